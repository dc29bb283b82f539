// The start of every engine test: `const { engine, clock } = await setup()`. It returns an empty database of its own
// on the backend of the running project. After the test, it checks the invariants and that nothing was left behind.
import { inject, onTestFinished } from 'vitest'
import type { RunnerTask } from 'vitest'
import { openEngine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/shared.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { Clock } from './clock.ts'
import { freshEmbedded } from './fresh-embedded.ts'
import { freshPostgres } from './fresh-postgres.ts'
import { takeRunningTimers } from './leak.ts'
import { serveOverHttp } from './serve-http.ts'
import { findViolations } from './violations.ts'

export interface Fixture {
  readonly engine: Engine
  readonly sql: Sql
  /**
   * A handle with the rights of the schema's owner, for what the engine's role may not do. Equal to `sql` unless the
   * project has another role.
   */
  readonly owner: Sql
  readonly clock: Clock
  /** The URL of this test's database; `memory:` on the embedded one, which no other process can reach. */
  readonly url: string
  /** Resolves when this engine has done the work that endings owe other executions. */
  readonly dispatched: () => Promise<void>
}

let inUse = 0

export async function setup(options: EngineOptions = {}): Promise<Fixture> {
  const database = await (inject('backend') === 'postgres' ? freshPostgres() : freshEmbedded())
  const clock = new Clock(database.owner)
  const { engine: local, dispatched } = openEngine(database.sql, options)
  const served = inject('overHttp') ? await serveOverHttp(local) : null
  const engine = served?.engine ?? local
  inUse += 1
  onTestFinished(async ({ task }) => {
    await served?.close()
    await dispatched()
    const broken = await findViolations(database.sql)
    await clock.reset()
    const left = await (isStillRunning(task) ? database.discard() : database.end())
    inUse -= 1
    // Timers do not show which database they belong to: the check after the last database covers all.
    if (inUse === 0) left.push(...(await takeRunningTimers()))
    if (broken.length > 0) throw new Error(`broken invariants: ${JSON.stringify(broken, null, 2)}`)
    if (left.length > 0) throw new Error(`the test left behind:\n${left.join('\n')}`)
  })
  return { engine, sql: database.sql, owner: database.owner, clock, url: database.url, dispatched }
}

// A test that ran out of time continues in the background, and would write into the next one's database.
function isStillRunning(task: RunnerTask): boolean {
  return task.result?.errors?.some((error) => error.message.includes('timed out in')) ?? false
}
