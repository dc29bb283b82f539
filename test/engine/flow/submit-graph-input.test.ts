import { expect, test } from 'vitest'
import type { GraphRequest } from '../../../src/engine/flow/graph-request.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

const member = (name: string) => ({ name, kind: name })

const chain = {
  kind: 'pipeline',
  members: [member('a'), member('b'), member('c')],
  edges: [
    { upstream: 'a', downstream: 'b' },
    { upstream: 'b', downstream: 'c' },
  ],
} satisfies GraphRequest

const bad: readonly (readonly [string, ErrorCode, RegExp, Record<string, unknown>])[] = [
  [
    'a cycle',
    'cycle_detected',
    /a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c/,
    { edges: [...chain.edges, { upstream: 'c', downstream: 'a' }] },
  ],
  [
    'an edge from a member to itself',
    'invalid_dependency',
    /"a" to itself/,
    { edges: [{ upstream: 'a', downstream: 'a' }] },
  ],
  [
    'an edge to an unknown member',
    'invalid_dependency',
    /edges\[0\]\.downstream is "d"/,
    { edges: [{ upstream: 'a', downstream: 'd' }] },
  ],
  [
    'a near miss',
    'invalid_dependency',
    /did you mean "extract"/,
    { members: [member('extract'), member('b')], edges: [{ upstream: 'extrct', downstream: 'b' }] },
  ],
  [
    'an edge id twice',
    'edge_exists',
    /has the id/,
    { edges: chain.edges.map((edge) => ({ ...edge, edgeId: '0190a000-0000-7000-8000-0000000000ed' })) },
  ],
  [
    'two edges between the same members',
    'edge_exists',
    /leads from "a" to "b"/,
    { edges: [chain.edges[0], { ...chain.edges[0], kind: 'optional' }] },
  ],
  [
    'a quorum of none',
    'invalid_input',
    /policy\.k is 0/,
    { groups: [{ downstream: 'b', policy: { kind: 'quorum', k: 0 } }] },
  ],
  [
    'a quorum of more than its edges',
    'invalid_dependency',
    /needs 2 inbound edges and has 1/,
    { groups: [{ downstream: 'b', policy: { kind: 'quorum', k: 2 } }] },
  ],
  [
    'a policy for a member without edges',
    'invalid_dependency',
    /"a" needs 1/,
    { groups: [{ downstream: 'a', policy: { kind: 'any_of' } }] },
  ],
  [
    'two policies for one member',
    'invalid_input',
    /groups\[1\]/,
    {
      groups: [
        { downstream: 'b', policy: { kind: 'any_of' } },
        { downstream: 'b', policy: { kind: 'all_of' } },
      ],
    },
  ],
  ['no members', 'invalid_input', /members is empty/, { members: [], edges: [] }],
  [
    'two members of one name',
    'member_name_taken',
    /both named "a"/,
    { members: [member('a'), member('a')], edges: [] },
  ],
  ['a member without a name', 'invalid_input', /members\[0\]\.name/, { members: [{ kind: 'k' }], edges: [] }],
  [
    'a member that is broken',
    'invalid_input',
    /members\[1\]: kind/,
    { members: [member('a'), { name: 'b', kind: '' }], edges: [] },
  ],
  [
    'a member of another partition',
    'invalid_partition',
    /its flow/,
    {
      flowId: '{fp:7}:0190a000-0000-7000-8000-0000000000ed',
      members: [{ ...member('a'), executionId: '{fp:8}:0190a000-0000-7000-8000-0000000000ed' }],
      edges: [],
    },
  ],
  [
    'a member of another namespace',
    'namespace_mismatch',
    /members\[0\]/,
    { members: [{ ...member('a'), namespace: 'other' }], edges: [] },
  ],
  [
    'a member with a parent',
    'invalid_input',
    /no parent/,
    { members: [{ ...member('a'), parentId: mintExecutionId() }], edges: [] },
  ],
  [
    'one key for two members',
    'idempotency_conflict',
    /members\[1\]/,
    {
      members: [
        { ...member('a'), idempotencyKey: 'k' },
        { ...member('b'), idempotencyKey: 'k' },
      ],
      edges: [],
    },
  ],
  ['an unknown field', 'invalid_input', /did you mean members/, { mebers: [] }],
  [
    'an inner flow without members',
    'invalid_input',
    /members\[0\]\.flow\.members is empty/,
    { members: [{ name: 'a', flow: { kind: 'f', members: [] } }], edges: [] },
  ],
  [
    'an inner flow that stays open',
    'invalid_input',
    /stayOpen/,
    { members: [{ name: 'a', flow: { kind: 'f', members: [member('x')], stayOpen: true } }], edges: [] },
  ],
  [
    'a member that is a flow and an execution',
    'invalid_input',
    /payload/,
    { members: [{ name: 'a', flow: { kind: 'f', members: [member('x')] }, payload: Buffer.from('x') }], edges: [] },
  ],
  ['flows nested too deep', 'invalid_input', /at most 8 levels deep/, { members: [nested(9)], edges: [] }],
  [
    'more than 16 MiB',
    'payload_too_large',
    /16777216/,
    {
      members: Array.from({ length: 17 }, (_, index) => ({
        ...member(`m${index}`),
        payload: new Uint8Array(1024 * 1024),
      })),
      edges: [],
    },
  ],
  ['a flow within that is none', 'invalid_input', /flow is null/, { members: [{ name: 'a', flow: null }], edges: [] }],
  ['a hole among its members', 'invalid_input', /members\[0\] is undefined/, { members: Array(1), edges: [] }],
  ['a hole among its edges', 'invalid_input', /edges\[0\] is undefined/, { edges: Array(1) }],
  ['edges that are no list', 'invalid_input', /edges is an object/, { edges: {} }],
]

test.each(bad)('a graph with %s is refused, and nothing is written', async (_, code, sentence, change) => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, async () => {
    const error = await refusal(code, engine.flows.submitGraph({ ...chain, ...change }))
    expect(error.message).toMatch(sentence)
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? member('x') : { name: 'inner', flow: { kind: 'f', members: [nested(depth - 1)] } }
}

test('a graph of 100,001 members is refused', async () => {
  const { engine, sql } = await setup()
  const members = Array.from({ length: 100_001 }, (_, index) => ({ name: `m${index}`, kind: 'k' }))
  await withoutWriting(sql, () => refusal('too_many_items', engine.flows.submitGraph({ kind: 'wide', members })))
})
