// The audit of groups has the rule of the model in SQL: over all small groups, both decide the same.
import { expect, test } from 'vitest'
import { groupRule } from '../../../src/engine/flow/invariants.ts'
import { groupState, type JoinPolicy } from '../../../src/model/edge-group.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'

test('the invariant of groups has the rule of the model, for every group of up to four edges', async () => {
  const { sql } = await setup()
  const found = await rows(
    sql,
    `select g.*, ${groupRule} as state
     from (
       select quorum, total, satisfied, failed, skipped, is_sealed
       from generate_series(1, 4) total
       cross join (select null::int4 as quorum union all select generate_series(1, 5)) q
       cross join generate_series(0, total) satisfied
       cross join generate_series(0, total - satisfied) failed
       cross join generate_series(0, total - satisfied - failed) skipped
       cross join (values (true), (false)) s (is_sealed)
     ) g`,
  )
  expect(found.length).toBeGreaterThan(500)
  for (const row of found) {
    const { quorum, is_sealed: isSealed, state, ...counts } = row
    const policy = { kind: 'quorum', k: quorum as number, onSatisfied: 'let_run' } satisfies JoinPolicy
    const all = { kind: 'all_of', onSatisfied: 'let_run' } satisfies JoinPolicy
    const numbers = counts as Record<'total' | 'satisfied' | 'failed' | 'skipped', number>
    const expected = groupState(quorum === null ? all : policy, { ...numbers, isSealed: isSealed as boolean })
    expect(state, JSON.stringify(row)).toBe(expected)
  }
})
