// One thread, as the worker sees it: it is given one run at a time, and can be ended in the middle of whatever it does.
import { MessageChannel, Worker as NodeThread } from 'node:worker_threads'
import type { Claim } from '../../engine/execution/claim.ts'
import type { LogLevel } from '../../model/logger.ts'
import { typeScriptLoader } from '../typescript.ts'
import type { Context, StepOptions, StepTry } from '../context.ts'
import type { Lease } from '../lease.ts'
import type { RunLogger } from '../run-logger.ts'
import type { Task } from '../task.ts'
import type { UnawaitedMode } from '../unawaited.ts'
import { serializeError } from './serialize-error.ts'
import type { ThreadRequest, ThreadResult } from './entry.ts'
import type { ThreadStart } from './inside.ts'
import { Line, type Verbs } from './line.ts'

// Node looks for no loader in the threads of a process that has one, so the thread registers it first.
const start = `
const { entry, loader } = require('node:worker_threads').workerData
const ready = loader === null ? Promise.resolve() : import(loader).then((typescript) => typescript.register())
void ready.then(() => import(entry))`

export interface ThreadRun {
  readonly task: Task
  readonly claim: Claim
  readonly lease: Lease
  readonly ctx: Context
  readonly input: unknown
  readonly unawaited: UnawaitedMode
}

export class Thread {
  readonly #node: NodeThread
  isDead = false
  #death: Error | null = null
  #onDeath: ((death: Error) => void) | null = null

  constructor() {
    const isTypeScript = import.meta.url.endsWith('.ts')
    const entry = new URL(isTypeScript ? './entry.ts' : './entry.js', import.meta.url).href
    const loader = isTypeScript ? typeScriptLoader(import.meta.url) : null
    this.#node = new NodeThread(start, {
      eval: true,
      workerData: { flowfabric: 'thread', entry, loader } satisfies ThreadStart,
    })
    this.#node.on('error', (cause) => this.#die(new Error(`the thread has died: ${cause.message}`, { cause })))
    this.#node.on('exit', (code) =>
      this.#die(new Error(`the thread has ended in the middle of a run, with exit code ${code}`)),
    )
  }

  #die(death: Error): void {
    this.isDead = true
    this.#death ??= death
    this.#onDeath?.(this.#death)
  }

  // For one run: a promise that outlives it would keep what each of them gave.
  #untilDead(): Promise<never> {
    return new Promise((_, reject) => {
      if (this.#death === null) this.#onDeath = reject
      else reject(this.#death)
    })
  }

  /** What the handler gives in there; one at a time. */
  async run({ task, claim, lease, ctx, input, unawaited }: ThreadRun): Promise<unknown> {
    const { port1, port2 } = new MessageChannel()
    const line: Line = new Line(
      port1,
      verbsOf(ctx, lease, () => line),
    )
    const stop = (): void => void line.ask('stop', serializeError(ctx.abort.reason))
    this.#node.ref()
    try {
      this.#node.postMessage(port2, [port2])
      const { name, version, thread } = task
      const request: ThreadRequest = {
        module: thread!,
        name,
        version,
        claim: { ...claim, payload: null },
        input,
        unawaited,
      }
      const running = line.ask('handler', request)
      if (ctx.abort.aborted) stop()
      else ctx.abort.addEventListener('abort', stop)
      // What its steps have asked for is never answered when it dies: as in a process that was killed, no try has failed.
      const { exit, value } = (await Promise.race([running, this.#untilDead()])) as ThreadResult
      if (exit === null) return value
      return (ctx[exit.verb] as (...args: readonly unknown[]) => never)(...exit.args)
    } finally {
      this.#onDeath = null
      ctx.abort.removeEventListener('abort', stop)
      line.end()
      this.#node.unref()
    }
  }

  async end(): Promise<void> {
    this.isDead = true
    await this.#node.terminate()
  }
}

/** What the run may ask for. */
function verbsOf(ctx: Context, lease: Lease, line: () => Line): Verbs {
  return {
    // The thread may come to its code late. A run whose lease is lost is never answered: it ends with its thread.
    held: () => (lease.holds() ? null : new Promise(() => {})),
    log: (level: LogLevel, message: string, fields?: object, step?: string) =>
      (ctx.logger as RunLogger).log(level, message, fields, step),
    report: (level: LogLevel, message: string) => (ctx.logger as RunLogger).report(level, message),
    progress: (percent: number, message: string | undefined) => ctx.progress(percent, message),
    now: () => ctx.now(),
    upstream: (name: string) => ctx.upstream(name),
    upstreams: () => ctx.upstreams(),
    step: (id: number, name: string, rest: StepOptions, hasSchema: boolean) => {
      const validate = (value: unknown): Promise<never> => line().ask('check', id, value) as Promise<never>
      const schema = { '~standard': { version: 1, vendor: 'flowfabric', validate } } as const
      return ctx.step(name, (attempt) => work(line(), id, attempt), hasSchema ? { ...rest, schema } : rest)
    },
  }
}

async function work(line: Line, id: number, { signal, idempotencyKey, tryCount }: StepTry): Promise<unknown> {
  const giveUp = (): void => void line.ask('giveUp', id, serializeError(signal.reason))
  signal.addEventListener('abort', giveUp)
  try {
    return await line.ask('work', id, { idempotencyKey, tryCount })
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
