// The module that runs in the thread: one run after another, each over a port of its own.
import { parentPort, type MessagePort } from 'node:worker_threads'
import type { Claim } from '../../engine/execution/claim.ts'
import type { Context } from '../context.ts'
import type { RequestedExit } from '../run-exit.ts'
import { checkAwaited, type UnawaitedMode } from '../unawaited.ts'
import { findTask } from './find-task.ts'
import { PortCalls } from './port-calls.ts'
import { ThreadRun } from './thread-context.ts'

export interface ThreadRequest {
  readonly module: string
  readonly name: string
  readonly version: string | null
  readonly claim: Claim
  readonly input: unknown
  readonly unawaited: UnawaitedMode
}

/** `exit`: how the code ended its run itself; null: it returned the value. */
export interface ThreadResult {
  readonly exit: RequestedExit | null
  readonly value?: unknown
}

parentPort!.on('message', (port: MessagePort) => {
  let current: ThreadRun | null = null
  const calls: PortCalls = new PortCalls(port, {
    handler: (request: ThreadRequest) => {
      current = new ThreadRun(request.claim, calls)
      return run(current, request, calls)
    },
    stop: (...args: never[]) => current?.functions['stop']!(...args),
    work: (...args: never[]) => current!.functions['work']!(...args),
    giveUp: (...args: never[]) => current!.functions['giveUp']!(...args),
    check: (...args: never[]) => current!.functions['check']!(...args),
  })
})

async function run(current: ThreadRun, request: ThreadRequest, calls: PortCalls): Promise<ThreadResult> {
  const { module, name, version, input, unawaited } = request
  const task = await findTask(module, name, version)
  await calls.call('held')
  const handler = task.handler as unknown as (ctx: Context, input: unknown) => unknown
  try {
    const value = await handler(current.context, input)
    if (current.exit !== null) return { exit: current.exit }
    const warning = checkAwaited(name, current.unawaited.take(), unawaited)
    if (warning !== null) void calls.call('report', 'warn', `${current.claim.executionId}: ${warning}`)
    return { exit: null, value }
  } catch (error) {
    if (current.exit !== null) return { exit: current.exit }
    throw error
  }
}
