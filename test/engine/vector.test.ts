// The model and the table have the same rules. The test evaluates the table's own expression over every combination
// of words.
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

/** Timers and bounds that fit the words, so that the expression checks only the words. */
const fitting = `
  case when lifecycle_phase = 'terminal' then 1 end::bigint as terminal_at_ms,
  case when eligibility_state = 'not_eligible_until_time' then 1 end::bigint as delay_until_ms,
  case when is_parked then 1 end::bigint as parked_at_ms,
  case
    when not is_parked then null
    when lifecycle_phase = 'suspended' then 'suspended'
    when eligibility_state = 'blocked_by_dependencies' then 'waiting_children'
    when eligibility_state in ('blocked_by_budget', 'blocked_by_quota') then 'rate_limited'
    else 'waiting'
  end::flowfabric.ff_public_state as parked_state,
  null::bigint as deadline_at_ms, null::bigint as attempt_deadline_at_ms, null::bigint as cancel_deadline_at_ms,
  1::bigint as created_at_ms, 1::bigint as last_mutation_at_ms, 0 as attempt_index, 1 as total_attempt_count,
  0::smallint as partition_key, 0::smallint as priority, gen_random_uuid() as lease_id`

const columns = Object.keys(dimensions) as (keyof typeof dimensions)[]

test('EXEC-39 the database derives the public state of every vector as the model does, and none of an illegal one', async () => {
  const { sql } = await setup()
  const [column] = await rows(
    sql,
    `select pg_get_expr(d.adbin, d.adrelid) as expression
     from pg_attrdef d
     join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     where d.adrelid = 'flowfabric.ff_exec_core'::regclass and a.attname = 'public_state' and a.attgenerated = 's'`,
  )
  const words = columns.map((column) => `unnest(enum_range(null::flowfabric.ff_${column})) as ${column}`)
  const found = await rows(
    sql,
    `select ${columns.map((column) => `${column}::text`).join(', ')},
       (${column!['expression'] as string})::text as public_state
     from ${words.map((word, index) => `(select ${word}) d${index}`).join(' cross join ')}
     cross join lateral (select lifecycle_phase = 'suspended'
       or eligibility_state not in ('eligible_now', 'not_eligible_until_time', 'not_applicable') as is_parked) p
     cross join lateral (select ${fitting}) f`,
  )
  expect(found).toHaveLength(allVectors.length)

  const known = new Map(allVectors.map((vector) => [keyOf(vector), vector]))
  const disagreements = found.flatMap((row) => {
    const key = columns.map((column) => row[column]).join(' ')
    const vector = known.get(key)
    if (vector === undefined) return [`${key} is unknown to the model`]
    const expected = isLegal(vector) ? publicState(vector) : null
    return row['public_state'] === expected
      ? []
      : [`${key}: ${String(row['public_state'])} in the database, ${expected} in the model`]
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
  ]
  for (const change of illegal) {
    await expect(sql.script(`update flowfabric.ff_exec_core set ${change}`), change).rejects.toMatchObject({
      code: '23514',
      constraint: 'ff_exec_core_vector',
    })
  }
})

const unheld = `eligibility_state = 'not_applicable'`
const running = `${unheld}, lifecycle_phase = 'active', ownership_state = 'leased', attempt_state = 'running_attempt'`

test.each([
  ['a delay on an execution that is not delayed', 'delay_until_ms = 1', 'ff_exec_core_timers'],
  ['parked since, on an execution that is not parked', 'parked_at_ms = 1', 'ff_exec_core_timers'],
  ['parked as, on an execution that is not parked', `parked_state = 'waiting'`, 'ff_exec_core_timers'],
  ['an ending time on an open execution', 'terminal_at_ms = 1', 'ff_exec_core_timers'],
  ['an attempt deadline on what does not run', 'attempt_deadline_at_ms = 1', 'ff_exec_core_timers'],
  [
    'an ending without its time',
    `${unheld}, lifecycle_phase = 'terminal', terminal_outcome = 'cancelled'`,
    'ff_exec_core_timers',
  ],
  [
    'a deadline on an ended execution',
    `${unheld}, lifecycle_phase = 'terminal', terminal_outcome = 'cancelled', terminal_at_ms = 1, deadline_at_ms = 1`,
    'ff_exec_core_timers',
  ],
  [
    'a suspension without its time',
    `${unheld}, lifecycle_phase = 'suspended', attempt_state = 'attempt_interrupted'`,
    'ff_exec_core_timers',
  ],
  ['a delay on what runs', `${running}, lease_id = execution_id, delay_until_ms = 1`, 'ff_exec_core_timers'],
  ['a holder without a lease', running, 'ff_exec_core_bounds'],
  ['an attempt that was not counted', 'attempt_index = 1, total_attempt_count = 1', 'ff_exec_core_bounds'],
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
