// Setup for tests about tasks: a worker that runs by ticks, and the duties that depend on time.
import { onTestFinished } from 'vitest'
import { handleFor, submit } from '../../src/connect/submit.ts'
import type { Handle } from '../../src/connect/handle.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { suspensionWake } from '../../src/engine/duties/suspension-wake.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import type { Duration } from '../../src/model/duration.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import type { Sql } from '../../src/sql/sql.ts'
import type { SubmitOptions } from '../../src/worker/submission.ts'
import type { Signals, Task } from '../../src/worker/task.ts'
import type { WorkerOptions } from '../../src/worker/options.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup, type Fixture } from '../support/setup.ts'

// oxlint-disable-next-line typescript/no-explicit-any
type AnyTask = Task<any, any, any>

export interface Working extends Fixture {
  /** A handle on an execution by its id. */
  readonly worker: Worker
  /** Another one, with options of its own. */
  another(options: Partial<WorkerOptions>): Worker
  submit<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    input?: In,
    options?: SubmitOptions,
  ): Promise<Handle<Out, S>>
  handle(id: ExecutionId): Handle
  /** Ticks until no execution is left to claim. */
  runAll(): Promise<void>
  /** Advances the clock, runs the due duties, and then runs everything that became ready. */
  after(duration: Duration): Promise<void>
}

export async function working(
  tasks: readonly AnyTask[],
  options: Partial<WorkerOptions> = {},
  codec: Codec = jsonCodec,
): Promise<Working> {
  const fixture = await setup()
  const { engine, sql, clock } = fixture
  const workers: Worker[] = []
  const another = (own: Partial<WorkerOptions>): Worker => {
    const made = new Worker({ tasks, leaseTtl: '1m', handleSignals: false, ...options, ...own }, { engine, codec })
    workers.push(made)
    return made
  }
  onTestFinished(() => Promise.all(workers.map((each) => each.stop({ grace: 0 }))).then(() => {}))
  const worker = another({})
  const runAll = async (): Promise<void> => {
    while ((await worker.tick()) > 0);
  }
  return {
    ...fixture,
    worker,
    another,
    submit: (task, input, given = {}) => submit(engine, codec, task as Task, input, given) as never,
    handle: (id) => handleFor(engine, codec, undefined, id),
    runAll,
    async after(duration) {
      await clock.advance(duration)
      await runDuties(sql)
      await runAll()
    },
  }
}

async function runDuties(sql: Sql): Promise<void> {
  for (const duty of [leaseExpiry, delayedPromoter, suspensionWake]) await duty.runOnce(sql)
}

/** The steps that the current generation has recorded: kind, name and state of each. */
export async function recordedBy(engine: Engine, id: ExecutionId): Promise<string[]> {
  const { steps } = await engine.steps.list(id, { limit: 1000 })
  return steps.map(({ kind, name, index, state }) => `${kind} ${name}${index === 0 ? '' : ` #${index}`}: ${state}`)
}
