// The address of the module from which a thread imports a task.
import { pathToFileURL } from 'node:url'
import { refusal } from '../../model/errors.ts'
import { show } from '../../model/text.ts'
import type { TaskOptions } from '../task.ts'

/** Null: no thread. For `true`, the module that called `caller`. */
export function moduleOf(
  thread: TaskOptions['thread'] | undefined,
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  caller: Function,
): string | null {
  if (thread === undefined || thread === false) return null
  const url = thread === true ? callerOf(caller) : String(thread)
  if (url !== null && URL.canParse(url) && /^(file|data):/.test(url)) return url
  const allowed = 'true, or import.meta.url of the module that exports the task'
  throw refusal(
    'invalid_input',
    'thread',
    thread === true ? 'true, and the module is not known' : show(thread),
    allowed,
  )
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function callerOf(callee: Function): string | null {
  const { stackTraceLimit } = Error
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  const trace: { stack?: NodeJS.CallSite[] } = {}
  try {
    Error.stackTraceLimit = 1
    Error.prepareStackTrace = (_, sites) => sites
    Error.captureStackTrace(trace, callee)
    const name = trace.stack?.[0]?.getFileName() ?? null
    if (name === null || URL.canParse(name)) return name
    return pathToFileURL(name).href
  } finally {
    if (prepare === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace')
    else Object.defineProperty(Error, 'prepareStackTrace', prepare)
    Error.stackTraceLimit = stackTraceLimit
  }
}
