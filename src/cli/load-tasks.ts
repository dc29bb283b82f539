// Loads the tasks of a file, again whenever it changes. Each time, the file and its imports of the project are loaded
// anew: a hook adds the number of the load to their URLs. Packages are not reloaded.
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { EngineError } from '../model/errors.ts'
import { isTask, type Task } from '../worker/task.ts'
import { enableTypeScript } from '../worker/typescript.ts'

export interface TaskLoader {
  /** The tasks that the file exports now. */
  load(): Promise<readonly Task[]>
  /**
   * The file and its imports of the project, also those that were not found: of the last load, and of earlier ones back
   * to the last that succeeded.
   */
  readonly files: ReadonlySet<string>
  /** When the last load began, by this process's clock: it may miss later changes. */
  readonly begunAt: number
}

/** Returns a loader for this file; refused when this Node cannot load it. */
export async function taskLoader(path: string): Promise<TaskLoader> {
  const file = resolve(path)
  await readFile(file).catch((cause: Error) => {
    const sentence = `${path} cannot be read: ${cause.message}; name a file that exports tasks`
    throw new EngineError('invalid_input', sentence, { path }, { cause })
  })
  await refuseCommonJs(path, file)
  await enableTypeScript(file, path)
  const imports = listenToImports()
  let files: ReadonlySet<string> = new Set([file])
  let loads = 0
  let begunAt = Date.now()
  const load = async (): Promise<readonly Task[]> => {
    loads += 1
    begunAt = Date.now()
    imports.files.clear()
    const url = pathToFileURL(file)
    url.searchParams.set(versionName, String(loads))
    try {
      const tasks = tasksIn(await import(url.href), path)
      await imports.flushed()
      files = new Set([file, ...imports.files])
      return tasks
    } catch (error) {
      await imports.flushed()
      files = new Set([...files, ...imports.files])
      throw error
    }
  }
  return {
    load,
    get files() {
      return files
    },
    get begunAt() {
      return begunAt
    },
  }
}

/** Exported one by one, or in lists. */
function tasksIn(exported: unknown, path: string): Task[] {
  const values = Object.values(exported as Record<string, unknown>).flat()
  const tasks = [...new Set(values.filter((value) => isTask(value)))]
  if (tasks.length > 0) return tasks
  const sentence = `${path} exports no task; write export const hello = task('hello', async (ctx, input) => ...)`
  throw new EngineError('invalid_input', sentence, { path })
}

const versionName = 'flowfabric-load'

// Runs in the thread of the module hooks, before hooks that were registered earlier.
const hook = `
let port
export function initialize(data) {
  port = data.port
  port.on('message', () => port.postMessage(null))
  port.unref()
}
export async function resolve(specifier, context, next) {
  const parent = context.parentURL ?? ''
  const resolved = await next(specifier, context).catch((error) => {
    // The missing file may be created later.
    if (parent.includes('${versionName}=') && /^[.][.]?[/]/.test(specifier)) port.postMessage(new URL(specifier, parent).href)
    throw error
  })
  const load = /[?&]${versionName}=(\\d+)/.exec(specifier) ?? /[?&]${versionName}=(\\d+)/.exec(parent)
  if (load === null || !resolved.url.startsWith('file:') || resolved.url.includes('/node_modules/')) return resolved
  const url = new URL(resolved.url)
  url.searchParams.set('${versionName}', load[1])
  port.postMessage(url.href)
  return { ...resolved, url: url.href }
}`

interface Imports {
  readonly files: Set<string>
  /** Resolves when the hook's thread has reported everything that it has resolved so far. */
  flushed(): Promise<void>
}

function listenToImports(): Imports {
  const files = new Set<string>()
  const { port1, port2 } = new MessageChannel()
  let answered = (): void => {}
  port1.on('message', (url: string | null) => {
    if (url === null) answered()
    else files.add(fileURLToPath(url))
  })
  port1.unref()
  register(`data:text/javascript,${encodeURIComponent(hook)}`, { data: { port: port2 }, transferList: [port2] })
  const flushed = async (): Promise<void> => {
    // Messages arrive in order, so the reply comes after everything that was posted before. Until then the process must
    // not end.
    const answer = new Promise<void>((resolve) => (answered = resolve))
    port1.ref()
    port1.postMessage(null)
    await answer
    port1.unref()
  }
  return { files, flushed }
}

async function refuseCommonJs(path: string, file: string): Promise<void> {
  const extension = extname(file)
  if (extension === '.mjs' || extension === '.mts') return
  const isModule = extension.startsWith('.c') ? false : (await packageType(dirname(file))) === 'module'
  if (isModule) return
  const sentence = `${path} is CommonJS; write "type": "module" into its package.json, or name it .mts or .mjs`
  throw new EngineError('invalid_input', sentence, { path })
}

async function packageType(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null)
  if (text !== null) return JSON.parse(text).type
  const above = dirname(folder)
  return above === folder ? undefined : packageType(above)
}
