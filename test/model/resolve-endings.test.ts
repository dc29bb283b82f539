import { expect, test } from 'vitest'
import type { TerminalOutcome } from '../../src/model/state.ts'
import {
  noExtraFacts,
  type Facts,
  type FlowFact,
  type GroupFact,
  type MemberEnding,
  type OpenEdge,
} from '../../src/model/ending-facts.ts'
import { resolveEndings } from '../../src/model/resolve-endings.ts'

const flow: FlowFact = {
  flowId: 'f',
  representative: null,
  isHeld: false,
  isClosed: true,
  hasEnded: false,
  cancelPolicy: null,
  memberCount: 2,
  successCount: 0,
  endedCount: 0,
}

const inner: FlowFact = {
  ...flow,
  flowId: 'i',
  representative: { executionId: 'in', outcome: 'none', reason: null },
  memberCount: 1,
}

function ended(executionId: string, outcome: TerminalOutcome, flowId = 'f'): MemberEnding {
  return { executionId, generation: 0, outcome, flowId, subFlowId: null, isSkippedByFailure: false, isCounted: false }
}

function edge(upstream: MemberEnding, downstreamId: string, kind: OpenEdge['kind'] = 'success_only'): OpenEdge {
  return { edgeId: `${upstream.executionId} ${downstreamId}`, flowId: upstream.flowId, upstream, downstreamId, kind }
}

function group(downstreamId: string, changes: Partial<GroupFact> = {}): GroupFact {
  return {
    downstreamId,
    flowId: 'f',
    quorum: null,
    cancelsRemaining: false,
    state: 'pending',
    total: 1,
    satisfied: 0,
    failed: 0,
    skipped: 0,
    isSealed: true,
    isBlocked: true,
    isLocked: true,
    isFlow: false,
    hasStarted: false,
    ...changes,
  }
}

function resolve({ groups = new Map(), ...facts }: Partial<Facts>) {
  return resolveEndings({
    endings: [],
    closing: [],
    flows: new Map([[flow.flowId, flow]]),
    edges: [],
    isCutShort: false,
    extra: noExtraFacts,
    groups,
    ...facts,
  })
}

function by(...groups: readonly GroupFact[]): ReadonlyMap<string, GroupFact> {
  return new Map(groups.map((one) => [one.downstreamId, one]))
}

const a = ended('a', 'success')
const failed = ended('a', 'failed')

test('a success releases the member that waited for it alone, and is counted', () => {
  const resolution = resolve({ endings: [a], edges: [edge(a, 'b')], groups: by(group('b')) })
  expect(resolution).toMatchObject({
    released: ['b'],
    ended: [],
    settled: [a],
    edges: [{ resolution: 'satisfied' }],
    groups: [{ satisfied: 1, state: 'satisfied', isFired: true }],
    flows: [{ flowId: 'f', counts: { success: 1 }, endsAs: 'none' }],
  })
})

test('a failure skips the member that needed a success, and the skip says so', () => {
  const resolution = resolve({ endings: [failed], edges: [edge(failed, 'b')], groups: by(group('b')) })
  expect(resolution.ended).toEqual([
    { executionId: 'b', outcome: 'skipped', reason: 'dependency_failed', isByCancel: false },
  ])
  expect(resolution.released).toEqual([])
})

test('whether a failure reaches a skip through other edges is a fact that only such a skip lacks', () => {
  const facts = { endings: [a], edges: [edge(a, 'b', 'on_failure'), edge(a, 'c')], groups: by(group('b'), group('c')) }
  const first = resolve(facts)
  expect(first).toMatchObject({ lacks: { skips: ['b'] }, released: ['c'], ended: [], settled: [] })
  expect([...first.lackingFlowIds]).toEqual(['f'])
  expect(first.flows).toMatchObject([{ counts: { success: 0 } }])
  expect(first.edges.map((one) => one.edge.downstreamId)).toEqual(['c'])
  for (const isReached of [true, false]) {
    const next = resolve({ ...facts, extra: { ...noExtraFacts, skips: new Map([['b', isReached]]) } })
    expect(next.ended).toMatchObject([{ executionId: 'b', reason: isReached ? 'dependency_failed' : 'not_needed' }])
    expect(next.settled).toEqual([a])
  }
})

test('a skip by a failure skips on through every edge that is not optional', () => {
  const skipped = { ...ended('a', 'skipped'), isSkippedByFailure: true }
  const skips = (kind: OpenEdge['kind'], quorum: number | null) =>
    resolve({
      endings: [skipped],
      edges: [edge(skipped, 'b', kind), edge(ended('c', 'success'), 'b', 'on_failure')],
      groups: by(group('b', { total: 2, quorum })),
    })
  expect(skips('on_failure', null).ended).toMatchObject([{ executionId: 'b', reason: 'dependency_failed' }])
  expect(skips('optional', null)).toMatchObject({ ended: [], lacks: { skips: ['b'] } })
})

test('an ending waits with its flow for a member that another transaction holds', () => {
  const groups = by(group('b', { isLocked: false }), group('c'))
  const resolution = resolve({ endings: [a], edges: [edge(a, 'b'), edge(a, 'c')], groups })
  expect(resolution).toMatchObject({ released: ['c'], settled: [], flows: [{ counts: { success: 0 } }] })
  expect([...resolution.heldFlowIds]).toEqual(['f'])
  expect(resolution.groups.map(({ fact }) => fact.downstreamId)).toEqual(['c'])
})

test('a member that another transaction holds is no obstacle while its group waits', () => {
  const groups = by(group('b', { isLocked: false, total: 2 }))
  const resolution = resolve({ endings: [a], edges: [edge(a, 'b')], groups })
  expect(resolution).toMatchObject({ settled: [a], groups: [{ state: 'pending', satisfied: 1 }] })
})

test('where the edges were cut short, they are resolved and nothing is counted', () => {
  const facts = { endings: [a], edges: [edge(a, 'b')], groups: by(group('b')), isCutShort: true }
  expect(resolve(facts)).toMatchObject({ released: ['b'], settled: [], flows: [{ counts: { success: 0 } }] })
})

test('a quorum that is reached cancels the other upstream members, while there are any', () => {
  const quorum = { quorum: 1, cancelsRemaining: true }
  const cancelling = (total: number) =>
    resolve({ endings: [a], edges: [edge(a, 'b')], groups: by(group('b', { ...quorum, total })) }).cancelling
  expect(cancelling(2)).toMatchObject([{ fact: { downstreamId: 'b' }, state: 'satisfied' }])
  expect(cancelling(1)).toEqual([])
})

test('a flow ends with its last member: by success, by cancel, or by a tree that must be read', () => {
  const ending = (last: Partial<FlowFact>, outcome: TerminalOutcome) =>
    resolve({
      endings: [ended('a', outcome)],
      flows: new Map([['f', { ...flow, endedCount: 1, ...last }]]),
    })
  expect(ending({ successCount: 1 }, 'success').flows).toMatchObject([{ endsAs: 'success' }])
  expect(ending({ cancelPolicy: 'cancel_all' }, 'failed').flows).toMatchObject([{ endsAs: 'cancelled' }])
  expect(ending({ successCount: 1, isClosed: false }, 'success').flows).toMatchObject([{ endsAs: 'none' }])
  expect(ending({ successCount: 1 }, 'failed')).toMatchObject({ lacks: { trees: ['f'] }, settled: [] })
})

test('of many large flows that end at once, only as many trees are requested as fit into memory', () => {
  const flows = ['f', 'g', 'h'].map((flowId) => ({ ...flow, flowId, memberCount: 9000, endedCount: 8999 }))
  const { lacks, lackingFlowIds, settled } = resolve({
    endings: flows.map(({ flowId }) => ended(`a of ${flowId}`, 'failed', flowId)),
    flows: new Map(flows.map((one) => [one.flowId, one])),
  })
  expect({ trees: lacks.trees, left: [...lackingFlowIds], settled }).toEqual({
    trees: ['f', 'g'],
    left: ['f', 'g', 'h'],
    settled: [],
  })
})

test('the reason of a skip is corrected under the lock of the skipped member', () => {
  const tree = {
    flow: {
      members: [
        { id: 'a', ending: 'failed' as const },
        { id: 'b', ending: 'skipped' as const },
      ],
      edges: [{ upstreamId: 'a', downstreamId: 'b', kind: 'success_only' as const, resolution: 'failed' as const }],
      joins: [{ downstreamId: 'b', isSatisfied: false, quorum: null, satisfied: 0 }],
    },
    storedReasons: new Map([['b', 'not_needed']]),
    nested: new Map(),
  }
  const flows = new Map([['f', { ...flow, endedCount: 1 }]])
  const extra = { ...noExtraFacts, trees: new Map([['f', tree]]) }
  const unlocked = resolve({ endings: [failed], flows, extra })
  expect(unlocked).toMatchObject({ lacks: { locks: ['b'] }, settled: [] })
  expect([...unlocked.lackingFlowIds]).toEqual(['f'])
  const held = resolve({ endings: [failed], flows, extra: { ...extra, tried: new Set(['b']) } })
  expect(held).toMatchObject({ lacks: { locks: [] }, settled: [] })
  expect([...held.heldFlowIds]).toEqual(['f'])
  const locked = resolve({ endings: [failed], flows, extra: { ...extra, locked: new Set(['b']) } })
  expect(locked).toMatchObject({ flows: [{ endsAs: 'failed' }], settled: [failed] })
  expect([...locked.restated]).toEqual([['b', 'dependency_failed']])
})

test('a nested flow that ends ends the member that represents it, under its lock', () => {
  const x = ended('x', 'success', 'i')
  const facts = { endings: [x], flows: new Map([['i', inner]]) }
  expect(resolve(facts)).toMatchObject({ lacks: { locks: ['in'] }, ended: [] })
  const extra = { ...noExtraFacts, locked: new Set(['in']) }
  expect(resolve({ ...facts, extra })).toMatchObject({
    ended: [{ executionId: 'in', outcome: 'success', reason: null }],
    flows: [{ flowId: 'i', endsAs: 'success' }],
  })
})

test('a member that ended before its flow started is counted, and its edges wait for the start', () => {
  const x = ended('x', 'cancelled', 'i')
  const flows = new Map([['i', { ...inner, isHeld: true, memberCount: 2 }]])
  const facts = { endings: [x], edges: [edge(x, 'y', 'optional')], groups: by(group('y', { flowId: 'i' })), flows }
  expect(resolve(facts)).toMatchObject({ edges: [], settled: [x], flows: [{ counts: { cancelled: 1 } }] })
  const start: MemberEnding = { ...ended('in', 'none'), subFlowId: 'i' }
  const started = resolve({ ...facts, endings: [x, start], flows: new Map([...flows, ['f', flow]]) })
  expect(started.edges).toMatchObject([{ resolution: 'satisfied' }])
  expect(started.flows).toMatchObject([{ flowId: 'i', begins: true, hasEndedAhead: true }, { flowId: 'f' }])
})

test('nothing runs in a flow whose representative was skipped, whatever its edges accept', () => {
  const x = ended('x', 'skipped', 'i')
  const skipped = {
    ...inner,
    memberCount: 2,
    representative: { executionId: 'in', outcome: 'skipped', reason: 'dependency_failed' } as const,
  }
  const facts = { endings: [x], edges: [edge(x, 'y', 'optional')], groups: by(group('y', { flowId: 'i' })) }
  expect(resolve({ ...facts, flows: new Map([['i', skipped]]) })).toMatchObject({
    edges: [{ resolution: 'skipped' }],
    ended: [{ executionId: 'y', outcome: 'skipped', reason: 'dependency_failed' }],
  })
})

test('a nested flow whose representative ended before it started is cancelled with it', () => {
  const representative: MemberEnding = { ...ended('in', 'cancelled'), subFlowId: 'i' }
  const start = { ...edge(representative, 'x', 'start'), flowId: 'i' }
  const flows = new Map([
    ['f', flow],
    ['i', { ...inner, isHeld: true }],
  ])
  const resolution = resolve({
    endings: [representative],
    edges: [start],
    groups: by(group('x', { flowId: 'i' })),
    flows,
  })
  expect(resolution).toMatchObject({
    ended: [],
    flows: [{ flowId: 'f' }, { flowId: 'i', marks: 'cancel_all', closes: true, begins: true }],
    groups: [{ state: 'impossible', isCancelled: true }],
  })
})

test('an ending that was counted before resolves its new edges, and is not counted again', () => {
  const counted = { ...a, isCounted: true }
  const resolution = resolve({ endings: [counted], edges: [edge(counted, 'b')], groups: by(group('b')) })
  expect(resolution).toMatchObject({ released: ['b'], settled: [counted], flows: [{ counts: { success: 0 } }] })
})

test('a flow that is closed after its members have ended ends at once', () => {
  const flows = new Map([['f', { ...flow, isClosed: false, successCount: 2, endedCount: 2 }]])
  expect(resolve({ closing: ['f'], flows }).flows).toMatchObject([{ closes: true, endsAs: 'success' }])
})
