// The rules of the model, compared with the same rules in SQL: over every edge kind and ending, and all small groups.
import { expect, test } from 'vitest'
import { edgeResolution, groupState as groupStateSql } from '../../../src/engine/transition/group-rule.ts'
import { groupState, resolveEdge, type JoinPolicy, type StoredEdgeKind } from '../../../src/model/edge-group.ts'
import type { TerminalOutcome } from '../../../src/model/state.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'

test('EDGE-07 the database resolves every edge as the model does', async () => {
  const { sql } = await setup()
  const found = await rows(
    sql,
    `select kind::text as kind, outcome::text as outcome, ${edgeResolution('kind', 'outcome')} as resolution
     from unnest(enum_range(null::flowfabric.ff_edge_kind)) as k (kind)
     cross join unnest(enum_range(null::flowfabric.ff_terminal_outcome)) as o (outcome)
     where outcome <> 'none' or kind = 'start'`,
  )
  expect(found).toHaveLength(4 * 5 + 1)
  for (const { kind, outcome, resolution } of found) {
    const expected = resolveEdge(kind as StoredEdgeKind, outcome as TerminalOutcome)
    expect(resolution, `${kind as string} after ${outcome as string}`).toBe(expected)
  }
})

const columns = {
  quorum: 'quorum',
  total: 'total',
  satisfied: 'satisfied',
  failed: 'failed',
  skipped: 'skipped',
  isSealed: 'is_sealed',
}

test('the database evaluates every group of up to four edges as the model does', async () => {
  const { sql } = await setup()
  const found = await rows(
    sql,
    `select quorum, total, satisfied, failed, skipped, is_sealed, ${groupStateSql(columns)} as state
     from generate_series(1, 4) total
     cross join (select null::int4 as quorum union all select generate_series(1, 5)) q
     cross join generate_series(0, total) satisfied
     cross join generate_series(0, total - satisfied) failed
     cross join generate_series(0, total - satisfied - failed) skipped
     cross join (values (true), (false)) s (is_sealed)`,
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
