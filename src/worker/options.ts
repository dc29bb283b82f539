// The options of a worker, and the settings that it makes of them.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ClaimRequest } from '../engine/execution/claimer.ts'
import { parseCapabilities } from '../model/capability.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { loggerOf, type Logger, type LoggerOption } from '../model/logger.ts'
import { checkLane, checkNamespace } from '../model/name.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { checkText, show } from '../model/text.ts'
import type { Middleware } from './middleware.ts'
import { ServedTasks } from './serve.ts'
import type { Task } from './task.ts'
import { checkUnawaited, type UnawaitedMode } from './unawaited.ts'

/** The options of `ff.worker`. */
export interface WorkerOptions {
  /** The tasks that it runs. It claims executions of these kinds alone. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly tasks: readonly Task<any, any, any>[]
  /** Defaults to the lanes of its tasks. */
  readonly lanes?: readonly string[]
  /** Claims from these namespaces alone; left out: from all that the caller may use. */
  readonly namespaces?: readonly string[]
  /** How many run at a time; defaults to 64. */
  readonly concurrency?: number
  /**
   * The capabilities of this machine, such as `gpu`. An execution with `requiredCapabilities` runs only on a worker
   * that has all of them.
   */
  readonly capabilities?: readonly string[]
  /**
   * How many executions it may hold besides the running ones, so that it never waits for work; defaults to 200. It
   * holds as many as it runs in a tenth of a second, and no more than 4 MiB of them, so none waits here for long.
   */
  readonly prefetch?: number
  /** How long a claimed execution stays with a worker that no longer renews its lease, as after a crash. Defaults to 30 s, embedded to 60 s. */
  readonly leaseTtl?: Duration
  /** The name of this group of workers, in lists and logs; defaults to `worker`. */
  readonly name?: string
  /** Functions that run around every handler; the first is the outermost. */
  readonly middleware?: readonly Middleware[]
  /** Left out: the one of `connect`, which by default is the console, for warnings and errors. `false`: nothing is logged. */
  readonly logger?: LoggerOption
  /** Stop on SIGTERM and SIGINT, and end the process by the same signal afterwards; defaults to true. */
  readonly handleSignals?: boolean
  /** How long running work may take to finish after a stop signal; defaults to 10 s. */
  readonly grace?: Duration
  /**
   * What happens when a task returns with a step, wait, sleep or child that it never awaited: `warn` logs it and the run completes,
   * `fail` fails the run for good with `unawaited_work`. Defaults to `warn`; `flowfabric dev` and `flowfabric/testing` use `fail`.
   */
  readonly unawaited?: UnawaitedMode
}

export const workerOptionNames = [
  'tasks',
  'lanes',
  'namespaces',
  'concurrency',
  'capabilities',
  'prefetch',
  'leaseTtl',
  'name',
  'middleware',
  'logger',
  'handleSignals',
  'grace',
  'unawaited',
] as const satisfies readonly (keyof WorkerOptions)[]

/** The options, checked and with their defaults. */
export interface Settings {
  readonly served: ServedTasks
  readonly concurrency: number
  readonly prefetch: number
  readonly leaseTtlMs: number
  readonly graceMs: number
  readonly middleware: readonly Middleware[]
  readonly logger: Logger
  readonly handlesSignals: boolean
  readonly unawaited: UnawaitedMode
  /** The fields that all of its claims share. */
  readonly identity: WorkerIdentity
}

export type WorkerIdentity = Required<
  Pick<ClaimRequest, 'workerId' | 'workerInstanceId' | 'lanes' | 'leaseTtl' | 'capabilities'>
> &
  Pick<ClaimRequest, 'namespaces'>

export function settingsOf(options: WorkerOptions): Settings {
  refuseUnknownFields('worker', options, workerOptionNames)
  const { concurrency = 64, prefetch = 200, namespaces, middleware = [] } = options
  const served = new ServedTasks(options.tasks)
  const leaseTtlMs = checkTtl(options.leaseTtl ?? limits.defaultLeaseTtlMs)
  const workerId = checkText('name', options.name ?? 'worker', { minBytes: 1, maxBytes: 128, refuseControls: true })
  return {
    served,
    concurrency: checkCount('concurrency', concurrency, 1),
    prefetch: checkCount('prefetch', prefetch, 0),
    leaseTtlMs,
    graceMs: parseDuration('grace', options.grace ?? 10_000),
    middleware: checkMiddleware(middleware),
    logger: loggerOf(options.logger),
    handlesSignals: options.handleSignals !== false,
    unawaited: checkUnawaited(options.unawaited ?? 'warn'),
    identity: {
      workerId,
      workerInstanceId: `${workerId}:${hostname().slice(0, 64)}:${process.pid}:${randomUUID().slice(0, 8)}`,
      lanes: checkLanes(options.lanes ?? served.lanes),
      leaseTtl: leaseTtlMs,
      capabilities: parseCapabilities(options.capabilities),
      ...(namespaces !== undefined && { namespaces: checkNamespaces(namespaces) }),
    },
  }
}

function checkCount(field: string, count: unknown, least: number): number {
  if (typeof count === 'number' && Number.isInteger(count) && count >= least && count <= 10_000) return count
  throw refusal('invalid_input', field, show(count), `a whole number from ${least} to 10000`)
}

function checkTtl(leaseTtl: Duration): number {
  const ttlMs = parseDuration('leaseTtl', leaseTtl)
  if (ttlMs >= limits.leaseTtlMinMs && ttlMs <= limits.leaseTtlMaxMs) return ttlMs
  throw refusal('invalid_input', 'leaseTtl', `${ttlMs} ms`, `from ${limits.leaseTtlMinMs} ms to a day`)
}

function checkNamespaces(namespaces: unknown): readonly string[] {
  if (Array.isArray(namespaces) && namespaces.length > 0) return namespaces.map(checkNamespace)
  throw refusal('invalid_input', 'namespaces', show(namespaces), 'one namespace or more')
}

function checkMiddleware(middleware: unknown): readonly Middleware[] {
  const isList = Array.isArray(middleware) && middleware.every((each) => typeof each === 'function')
  if (isList) return middleware as Middleware[]
  throw refusal('invalid_input', 'middleware', show(middleware), 'a list of functions')
}

function checkLanes(lanes: unknown): readonly string[] {
  if (Array.isArray(lanes) && lanes.length > 0) return lanes.map(checkLane)
  throw refusal('invalid_input', 'lanes', show(lanes), 'one lane or more')
}
