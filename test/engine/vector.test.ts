// The model and the table know the same rules. The table's own expressions are asked, over every combination of words.
import { expect, test } from 'vitest'
import { isLegal, publicState } from '../../src/model/state.ts'
import type { StateVector } from '../../src/model/state.ts'
import { allVectors } from '../model/vectors.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'

const dimensions = {
  lifecycle_phase: 'lifecyclePhase',
  ownership_state: 'ownershipState',
  eligibility_state: 'eligibilityState',
  attempt_state: 'attemptState',
  terminal_outcome: 'terminalOutcome',
  interruption: 'interruption',
} as const satisfies Record<string, keyof StateVector>

const columns = Object.keys(dimensions) as (keyof typeof dimensions)[]

test('EXEC-39 the database judges every vector as the model does', async () => {
  const { sql } = await setup()
  const [expressions] = await rows(
    sql,
    `select
       pg_get_expr(c.conbin, c.conrelid) as legal,
       (select pg_get_expr(d.adbin, d.adrelid)
        from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
        where d.adrelid = c.conrelid and a.attname = 'public_state' and a.attgenerated = 's') as public_state
     from pg_constraint c
     where c.conname = 'ff_exec_core_vector'`,
  )
  const words = columns.map((column) => `unnest(enum_range(null::flowfabric.ff_${column})) as ${column}`)
  const found = await rows(
    sql,
    `select ${columns.map((column) => `${column}::text`).join(', ')},
       (${expressions!['legal'] as string}) as is_legal, (${expressions!['public_state'] as string})::text as public_state
     from ${words.map((word, index) => `(select ${word}) d${index}`).join(' cross join ')}`,
  )
  expect(found).toHaveLength(allVectors.length)

  const known = new Map(allVectors.map((vector) => [keyOf(vector), vector]))
  const disagreements = found.flatMap((row) => {
    const key = columns.map((column) => row[column]).join(' ')
    const vector = known.get(key)
    if (vector === undefined) return [`${key} is unknown to the model`]
    const judged = [row['is_legal'], row['public_state']].join(' ')
    const expected = [isLegal(vector), publicState(vector)].join(' ')
    return judged === expected ? [] : [`${key}: ${judged} in the database, ${expected} in the model`]
  })
  expect(disagreements).toEqual([])
})

test('a vector that the model does not know cannot be stored', async () => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k' })
  const illegal = [
    `lifecycle_phase = 'active'`,
    `ownership_state = 'leased', lease_id = execution_id`,
    `terminal_outcome = 'success'`,
    `interruption = 'lapsed'`,
    `attempt_state = 'none'`,
    `lifecycle_phase = 'submitted'`,
  ]
  for (const change of illegal) {
    await expect(sql.script(`update flowfabric.ff_exec_core set ${change}`), change).rejects.toMatchObject({
      code: '23514',
      constraint: 'ff_exec_core_vector',
    })
  }
})

test.each([
  ['a delay on what is not delayed', 'delay_until_ms = 1', 'ff_exec_core_timers'],
  ['parked since, on what is not parked', 'parked_at_ms = 1', 'ff_exec_core_timers'],
  ['parked as, on what is not parked', `parked_state = 'waiting'`, 'ff_exec_core_timers'],
  ['an ending time on what has not ended', 'terminal_at_ms = 1', 'ff_exec_core_timers'],
  ['an attempt deadline on what does not run', 'attempt_deadline_at_ms = 1', 'ff_exec_core_timers'],
  ['a priority above 9000', 'priority = 9001', 'ff_exec_core_bounds'],
  ['partition 256', 'partition_key = 256', 'ff_exec_core_bounds'],
  ['a mutation before the creation', 'last_mutation_at_ms = created_at_ms - 1', 'ff_exec_core_bounds'],
])('%s cannot be stored', async (_, change, constraint) => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k' })
  await expect(sql.script(`update flowfabric.ff_exec_core set ${change}`)).rejects.toMatchObject({
    code: '23514',
    constraint,
  })
})

function keyOf(vector: StateVector): string {
  return columns.map((column) => vector[dimensions[column]]).join(' ')
}
