// A worker on a database, with a supervisor in the same process.
import type { Engine } from '../engine/contract.ts'
import { orEngineError } from '../engine/kernel/failure.ts'
import type { SuperviseOptions, Supervisor } from '../engine/duties/supervisor.ts'
import type { Codec } from '../model/codec.ts'
import { refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { loggerOf, type Logger } from '../model/logger.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { codeVersion } from '../model/version.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations/all.ts'
import type { Sql } from '../sql/sql.ts'
import { defined } from '../worker/submission.ts'
import { workerOptionNames } from '../worker/options.ts'
import type { Telemetry } from '../worker/telemetry.ts'
import { Worker, type WorkerDeps } from '../worker/worker.ts'
import type { WorkOptions } from './flowfabric.ts'

interface MakeWorkerDeps {
  readonly sql: Sql
  readonly engine: Engine
  readonly codec: Codec
  readonly telemetry: Telemetry | undefined
  readonly logger: Logger
  readonly onStoppedRun: WorkerDeps['onStoppedRun']
  readonly supervise: (options: SuperviseOptions) => Supervisor
  readonly onStopped: () => void
}

export function makeWorker(deps: MakeWorkerDeps, options: WorkOptions): Worker {
  const { sql, engine, codec, telemetry, supervise, onStoppedRun, onStopped } = deps
  refuseUnknownFields('worker', options, [...workerOptionNames, 'duties'])
  const { duties = true, ...rest } = options
  if (typeof duties !== 'boolean' && (typeof duties !== 'object' || duties === null)) {
    throw refusal('invalid_input', 'duties', show(duties), 'true, false or the options of a supervisor')
  }
  const logger = loggerOf(options.logger, deps.logger)
  const leaseTtl = sql.kind === 'embedded' ? limits.defaultEmbeddedLeaseTtlMs : limits.defaultLeaseTtlMs
  let supervisor: Supervisor | undefined
  return new Worker(
    { leaseTtl, ...defined(rest), logger },
    {
      engine,
      codec,
      telemetry,
      onStoppedRun,
      checkSchema: () => orEngineError(migrate(sql, migrations, { mode: 'check', codeVersion })),
      onStart: () => {
        if (duties === false) return
        supervisor = supervise({ logger, ...(duties === true ? {} : duties) })
      },
      onStop: async () => {
        await supervisor?.stop()
        onStopped()
      },
    },
  )
}
