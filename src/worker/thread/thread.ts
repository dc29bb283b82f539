// One thread, as the worker sees it: it executes one run at a time, and can be terminated at any time.
import { MessageChannel, Worker as NodeThread } from 'node:worker_threads'
import type { Claim } from '../../engine/execution/claim.ts'
import type { LogLevel } from '../../model/logger.ts'
import { typeScriptLoader } from '../typescript.ts'
import type { Context, StepOptions, StepTry } from '../context.ts'
import type { Lease } from '../lease.ts'
import type { RequestedExit } from '../run-exit.ts'
import type { RunLogger } from '../run-logger.ts'
import type { Task } from '../task.ts'
import type { UnawaitedMode } from '../unawaited.ts'
import type { ThreadRequest, ThreadResult } from './entry.ts'
import type { ThreadStart } from './inside.ts'
import { PortCalls, type Functions } from './port-calls.ts'
import { serializeError } from './serialize-error.ts'
import { forwardedMethods } from './thread-context.ts'

// Node does not use the loader of the process in its threads, so the thread registers it first.
const start = `
const { entry, loader } = require('node:worker_threads').workerData
const ready = loader === null ? Promise.resolve() : import(loader).then((typescript) => typescript.register())
void ready.then(() => import(entry))`

export interface RunInThread {
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

  // One promise for each run: one for all runs would keep the result of each of them in memory.
  #untilDead(): Promise<never> {
    return new Promise((_, reject) => {
      if (this.#death === null) this.#onDeath = reject
      else reject(this.#death)
    })
  }

  /** Runs the handler in the thread. One run at a time. */
  async run({ task, claim, lease, ctx, input, unawaited }: RunInThread): Promise<unknown> {
    const { port1, port2 } = new MessageChannel()
    const calls: PortCalls = new PortCalls(
      port1,
      functionsFor(ctx, lease, () => calls),
    )
    const stop = (): void => void calls.call('stop', serializeError(ctx.abort.reason))
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
      const running = calls.call('handler', request)
      if (ctx.abort.aborted) stop()
      else ctx.abort.addEventListener('abort', stop)
      // When the thread dies, its steps stay without a reply: as in a process that was killed, no try has failed.
      const { exit, value } = (await Promise.race([running, this.#untilDead()])) as ThreadResult
      if (exit === null) return value
      return repeatExit(ctx, exit)
    } finally {
      this.#onDeath = null
      ctx.abort.removeEventListener('abort', stop)
      calls.end()
      this.#node.unref()
    }
  }

  async end(): Promise<void> {
    this.isDead = true
    await this.#node.terminate()
  }
}

/** The functions that the thread may call. */
function functionsFor(ctx: Context, lease: Lease, calls: () => PortCalls): Functions {
  const logger = ctx.logger as RunLogger
  const methods = ctx as unknown as Functions
  const forwarded = forwardedMethods.map((method) => [method, (...args: never[]) => methods[method]!(...args)])
  return {
    ...(Object.fromEntries(forwarded) as Functions),
    // The thread may start the code late. No reply when the lease is lost: the run ends with its thread.
    held: () => (lease.holds() ? null : new Promise(() => {})),
    log: (level: LogLevel, message: string, fields?: object, step?: string) => logger.log(level, message, fields, step),
    report: (level: LogLevel, message: string) => logger.report(level, message),
    step: (id: number, name: string, options: StepOptions, hasSchema: boolean) => {
      const validate = (value: unknown): Promise<never> => calls().call('check', id, value) as Promise<never>
      const schema = { '~standard': { version: 1, vendor: 'flowfabric', validate } } as const
      return ctx.step(name, (attempt) => work(calls(), id, attempt), hasSchema ? { ...options, schema } : options)
    },
  }
}

async function work(calls: PortCalls, id: number, { signal, idempotencyKey, tryCount }: StepTry): Promise<unknown> {
  const giveUp = (): void => void calls.call('giveUp', id, serializeError(signal.reason))
  signal.addEventListener('abort', giveUp)
  try {
    return await calls.call('work', id, { idempotencyKey, tryCount })
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Ends the run here as the code ended it in the thread. */
function repeatExit(ctx: Context, exit: RequestedExit): never {
  if (exit.kind === 'retry') return ctx.retryIn(exit.delay, exit.reason)
  return exit.kind === 'cancel' ? ctx.cancel(exit.reason) : ctx.restart(exit.input)
}
