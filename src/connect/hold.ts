// An open database, its engine, and everything that `ff` does with them.
import type { OpenEngine } from '../engine/engine.ts'
import { within } from '../engine/kernel/closing.ts'
import { asEngineError, orEngineError } from '../engine/kernel/failure.ts'
import { checkHealth } from '../engine/health/check.ts'
import { repairHealth } from '../engine/health/repair.ts'
import { superviseOptionNames, type SuperviseOptions, type Supervisor } from '../engine/duties/supervisor.ts'
import { jsonCodec, type Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { loggerOf, type Logger } from '../model/logger.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { borrow } from '../sql/borrowed.ts'
import type { TransactionClient } from '../sql/borrowed-client.ts'
import type { EmbeddedSql } from '../sql/pglite.ts'
import type { Sql } from '../sql/sql.ts'
import { defined } from '../worker/submission.ts'
import type { Telemetry } from '../worker/telemetry.ts'
import type { Worker } from '../worker/worker.ts'
import type { FlowFabric, Health, WorkOptions } from './flowfabric.ts'
import { makeWorker } from './make-worker.ts'
import { longestCloseMs, stopWorkers } from './stop-workers.ts'
import { userSide } from './user-side.ts'
import { codeVersion } from '../model/version.ts'
import { tracedEngine } from './traced-engine.ts'
import { userWithin, type UserWithin } from './within.ts'

export interface Held {
  readonly sql: Sql
  readonly opened: OpenEngine
  readonly codec?: Codec | undefined
  readonly logger: Logger
  readonly telemetry?: Telemetry | undefined
  /**
   * Called instead of closing the database, after everything else is closed; left out: the database is closed, within
   * this time.
   */
  readonly letGo?: ((withinMs: number) => Promise<void>) | undefined
}

export function hold({ sql, opened, codec = jsonCodec, logger, telemetry, ...held }: Held): FlowFabric {
  const { letGo = (withinMs) => sql.close(withinMs) } = held
  const engine = telemetry === undefined ? opened.engine : tracedEngine(opened.engine, telemetry)
  const running = new Set<Supervisor>()
  const workers = new Set<Worker>()
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    const until = performance.now() + longestCloseMs
    await stopWorkers(workers)
    const stopped = Promise.all([...running].map((each) => each.stop()))
    await Promise.all([within(longestCloseMs, stopped), opened.close(longestCloseMs)])
    await letGo(Math.max(0, until - performance.now()))
  }
  const close = (): Promise<void> => (closing ??= end())
  const refuseWhenClosed = (): void => {
    if (closing !== undefined) throw new EngineError('engine_closed', 'this FlowFabric is closed; connect again')
  }
  const supervise = (options: SuperviseOptions = {}): Supervisor => {
    refuseUnknownFields('supervise', options, superviseOptionNames)
    const started = opened.supervisor({ ...defined(options), logger: loggerOf(options.logger, logger) })
    refuseWhenClosed()
    running.add(started)
    started.start()
    return forgottenWhenStopped(started, running)
  }
  const inTransaction = (client: TransactionClient): UserWithin => {
    if (sql.kind === 'embedded') throw noTransactionsOfYours()
    try {
      return userWithin(engine, opened.within(borrow(client, sql.schema)), codec)
    } catch (error) {
      throw asEngineError(error)
    }
  }
  const worker = (options: WorkOptions): Worker => {
    const onStoppedRun: OpenEngine['onStoppedRun'] = (receive) => opened.onStoppedRun(receive)
    const onStopped = (): void => void workers.delete(made)
    const made = makeWorker({ sql, engine, codec, telemetry, supervise, logger, onStoppedRun, onStopped }, options)
    refuseWhenClosed()
    workers.add(made)
    return made
  }
  const user = {
    ...userSide(engine, codec),
    within: inTransaction,
    worker,
    supervise,
    announce: (url: string | null) => announce(sql, url),
    health: healthOf(sql),
    close,
    [Symbol.asyncDispose]: close,
  }
  // The handle has the types of one task; at run time they do not exist.
  return user as unknown as FlowFabric
}

export function healthOf(sql: Sql): Health {
  return {
    check: (request) => orEngineError(checkHealth(sql, codeVersion, request)),
    repair: () => orEngineError(repairHealth(sql, codeVersion)),
  }
}

/** A process may start and stop many supervisors. */
function forgottenWhenStopped(supervisor: Supervisor, running: Set<Supervisor>): Supervisor {
  const stop = supervisor.stop.bind(supervisor)
  const start = supervisor.start.bind(supervisor)
  supervisor.start = () => {
    running.add(supervisor)
    start()
  }
  supervisor.stop = async () => {
    await stop()
    running.delete(supervisor)
  }
  return supervisor
}

async function announce(sql: Sql, url: string | null): Promise<void> {
  // A server that listens on all addresses is reached here by loopback. Other processes follow a lock to no other
  // address.
  const here = url?.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]') ?? null
  if (sql.kind === 'embedded') await (sql as EmbeddedSql).setUrl(here)
}

function noTransactionsOfYours(): EngineError {
  const sentence =
    'the embedded database has one connection, and no transactions of yours; connect to postgres:// instead'
  return new EngineError('unsupported', sentence)
}
