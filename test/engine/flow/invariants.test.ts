// Each invariant of flows can fail: the test breaks it, the check reports it, and the repaired database is healthy
// again.
import { expect, test } from 'vitest'
import { flowInvariants } from '../../../src/engine/flow/invariants.ts'
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { setup } from '../../support/setup.ts'
import { graphOf, walk } from './walk.ts'

const [member, blocked, group, edge, counters, cancelled] = flowInvariants.map(([sentence]) => sentence)

function changed(table: string, to: string, back: string) {
  return { breaks: `update flowfabric.${table} set ${to}`, repairs: `update flowfabric.${table} set ${back}` }
}

const ofTheRoot = `where flow_id = root_flow_id`

const breakages = [
  [member, 'a bit that is missing', changed('ff_exec_core', 'attached = attached - 16', 'attached = attached + 16')],
  [
    member,
    'a flow that stands for no member',
    changed(
      'ff_flow_core',
      'flow_kind = member_id::text, member_id = null where member_id is not null',
      `member_id = flow_kind::uuid, flow_kind = 'inner' where flow_id <> root_flow_id`,
    ),
  ],
  [
    blocked,
    'a group that is satisfied',
    changed(
      'ff_edge_group',
      `state = 'satisfied', fired_at_ms = 1 where state = 'pending'`,
      `state = 'pending', fired_at_ms = null where fired_at_ms = 1`,
    ),
  ],
  [
    group,
    'a counter',
    changed('ff_edge_group', 'failed = failed + 1, total = total + 1', 'failed = failed - 1, total = total - 1'),
  ],
  [
    edge,
    'an ending that owes no work',
    changed(
      'ff_edge',
      'resolution = null, resolved_generation = null where resolved_generation = 0',
      `resolution = 'satisfied', resolved_generation = 0
       where upstream_id in (select execution_id from flowfabric.ff_exec_core where terminal_outcome = 'success')`,
    ),
  ],
  [
    counters,
    'a counter of the flow',
    changed('ff_flow_core', `failed_count = 1 ${ofTheRoot}`, `failed_count = 0 ${ofTheRoot}`),
  ],
  [
    counters,
    'an end that comes too early',
    changed(
      'ff_flow_core',
      `ended_at_ms = 1, outcome = 'success' ${ofTheRoot}`,
      `ended_at_ms = null, outcome = 'none' ${ofTheRoot}`,
    ),
  ],
  [
    counters,
    'an ending that is counted and owed',
    {
      breaks: `insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
        select execution_id, 0, flow_id, 1, 'success' from flowfabric.ff_exec_core where terminal_outcome = 'success'`,
      repairs: 'delete from flowfabric.ff_dispatch',
    },
  ],
  [
    cancelled,
    'a mark that reaches no member',
    changed(
      'ff_flow_core',
      `cancelled_at_ms = 1, cancel_policy = 'cancel_all' ${ofTheRoot}`,
      `cancelled_at_ms = null, cancel_policy = null ${ofTheRoot}`,
    ),
  ],
] as const

test.each(breakages)('%s: broken by %s', async (sentence, _, { breaks, repairs }) => {
  const fixture = await setup()
  const { sql } = fixture
  const inner = { kind: 'inner', ...graphOf({ members: ['x'] }) }
  const flow = await walk(fixture, { edges: ['a > c', 'b > c', 'c > d'], members: [{ name: 'in', flow: inner }] })
  await flow.end('a')
  expect(await checkInvariants(sql)).toEqual([])
  await sql.script(breaks)
  try {
    const broken = await checkInvariants(sql)
    expect(broken.map(({ name }) => name)).toContain(sentence)
  } finally {
    await sql.script(repairs)
  }
})

test('every invariant of flows has a breakage', () => {
  expect(new Set(breakages.map(([sentence]) => sentence))).toEqual(
    new Set(flowInvariants.map(([sentence]) => sentence)),
  )
})
