// The start of every engine test: `const { engine, clock } = await setup()`. On the backend of the running project, a
// database that nobody else uses. When the test is over: no invariant is broken and nothing was left behind.
import { inject, onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { Clock } from './clock.ts'
import { freshEmbedded } from './fresh-embedded.ts'
import { freshPostgres } from './fresh-postgres.ts'
import { runningTimers } from './leak.ts'
import type {} from './provided.ts'

export interface Fixture {
  readonly engine: Engine
  readonly sql: Sql
  readonly clock: Clock
  /** Of this test's database; `memory:` on the embedded one, which nobody else can reach. */
  readonly url: string
}

export async function setup(): Promise<Fixture> {
  const database = await (inject('backend') === 'postgres' ? freshPostgres() : freshEmbedded())
  const clock = new Clock(database.sql)
  onTestFinished(async () => {
    const broken = await checkInvariants(database.sql)
    await clock.reset()
    const left = [...(await database.end()), ...runningTimers().map((timer) => `a timer ${timer}`)]
    if (broken.length > 0) throw new Error(`broken invariants: ${JSON.stringify(broken, null, 2)}`)
    if (left.length > 0) throw new Error(`the test left behind:\n${left.join('\n')}`)
  })
  return { engine: createEngine(database.sql), sql: database.sql, clock, url: database.url }
}
