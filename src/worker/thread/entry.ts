// What runs in the thread: one run after another, each over a port of its own.
import { parentPort, type MessagePort } from 'node:worker_threads'
import type { Claim } from '../../engine/execution/claim.ts'
import { RunContext } from '../run-context.ts'
import type { Context } from '../context.ts'
import { checkAwaited, type UnawaitedMode } from '../unawaited.ts'
import { ThreadActs, type ThreadExit } from './acts.ts'
import { findTask } from './find-task.ts'
import { Line } from './line.ts'

export interface ThreadRequest {
  readonly module: string
  readonly name: string
  readonly version: string | null
  readonly claim: Claim
  readonly input: unknown
  readonly unawaited: UnawaitedMode
}

/** `word`: how the code has ended its run, instead of by a value. */
export interface ThreadResult {
  readonly exit: ThreadExit | null
  readonly value?: unknown
}

parentPort!.on('message', (port: MessagePort) => {
  let acts: ThreadActs | null = null
  const verbs = {
    handler: (request: ThreadRequest) => {
      acts = new ThreadActs(request.claim, line)
      return run(acts, request, line)
    },
    stop: (...args: never[]) => acts?.verbs['stop']!(...args),
    work: (...args: never[]) => acts!.verbs['work']!(...args),
    giveUp: (...args: never[]) => acts!.verbs['giveUp']!(...args),
    check: (...args: never[]) => acts!.verbs['check']!(...args),
  }
  const line: Line = new Line(port, verbs)
})

async function run(
  acts: ThreadActs,
  { module, name, version, input, unawaited }: ThreadRequest,
  line: Line,
): Promise<ThreadResult> {
  const task = await findTask(module, name, version)
  await line.ask('held')
  const handler = task.handler as unknown as (ctx: Context, input: unknown) => unknown
  try {
    const value = await handler(new RunContext(acts), input)
    if (acts.exit !== null) return { exit: acts.exit }
    const warning = checkAwaited(name, acts.unawaited.take(), unawaited)
    if (warning !== null) void line.ask('report', 'warn', `${acts.claim.executionId}: ${warning}`)
    return { exit: null, value }
  } catch (error) {
    if (acts.exit !== null) return { exit: acts.exit }
    throw error
  }
}
