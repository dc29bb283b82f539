// A connection to a server, and everything that `ff` does with it. The server supervises, migrates and signs. It cannot
// join a transaction of the caller.
import type { OpenClient } from '../client/open.ts'
import { jsonCodec, type Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { loggerOf, type Logger } from '../model/logger.ts'
import { workerOptionNames } from '../worker/options.ts'
import { defined } from '../worker/submission.ts'
import type { Telemetry } from '../worker/telemetry.ts'
import { Worker } from '../worker/worker.ts'
import type { FlowFabric, WorkOptions } from './flowfabric.ts'
import { longestCloseMs, stopWorkers } from './stop-workers.ts'
import { tracedEngine } from './traced-engine.ts'
import { userSide } from './user-side.ts'

export interface HeldServer {
  readonly client: OpenClient
  readonly codec?: Codec | undefined
  readonly logger: Logger
  readonly telemetry?: Telemetry | undefined
}

export function holdServer({ client, codec = jsonCodec, logger, telemetry }: HeldServer): FlowFabric {
  const engine = telemetry === undefined ? client.engine : tracedEngine(client.engine, telemetry)
  const workers = new Set<Worker>()
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await stopWorkers(workers)
    await client.close(longestCloseMs)
  }
  const close = (): Promise<void> => (closing ??= end())
  const worker = (given: WorkOptions): Worker => {
    refuseUnknownFields('worker', given, [...workerOptionNames, 'duties'])
    const { duties = false, ...options } = given
    if (duties !== false) throw localOnly('duties', 'the server runs them')
    const onStop = (): void => void workers.delete(made)
    const own = { ...defined(options), logger: loggerOf(options.logger, logger) }
    const made = new Worker(own, { engine, codec, telemetry, overHttp: true, onStop })
    if (closing !== undefined) throw new EngineError('engine_closed', 'this FlowFabric is closed; connect again')
    workers.add(made)
    return made
  }
  const held = {
    ...userSide(engine, codec),
    within: () => {
      throw localOnly('within', 'a transaction of yours is on a connection of yours; connect to postgres:// for it')
    },
    worker,
    supervise: () => {
      throw localOnly('supervise', 'the server does it')
    },
    announce: async () => {
      throw localOnly('announce', 'it is about the directory that this process has open')
    },
    health: { check: noHealth, repair: noHealth },
    close,
    [Symbol.asyncDispose]: close,
  }
  // The handle has the types of one task; at run time they do not exist.
  return held as unknown as FlowFabric
}

async function noHealth(): Promise<never> {
  throw localOnly('health', 'it looks at the database itself; ask where that is open')
}

function localOnly(what: string, why: string): EngineError {
  return new EngineError('unsupported', `${what} is not there over HTTP: ${why}`, { operation: what })
}
