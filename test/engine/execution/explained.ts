// Explanations with the clock stopped at noon.
import type { Engine } from '../../../src/engine/contract.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory, type Factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'

export const now = Date.parse('2026-05-01T12:00:00Z')
export const noon = '2026-05-01T12:00:00.000Z'
export const soon = now + 60_000
export const later = '2026-05-01T12:01:00.000Z'
export const past = now - 60_000

export interface Given {
  readonly engine: Engine
  readonly sql: Sql
  readonly given: Factory
}

export async function atNoon() {
  const fixture = await setup()
  await fixture.clock.freezeAt(noon)
  return { ...fixture, given: factory(fixture.sql) }
}

export async function sentenceOf(engine: Engine, executionId: ExecutionId): Promise<string> {
  return (await engine.executions.explain(executionId))!.sentence
}

export const noWorker = "no registered worker serves lane 'default'"
export const flowId = '{fp:7}:01900000-0000-7000-8000-000000000002'
