// Every kind of list, each read from a small table and from a large one. The tables differ only in size, so both pages
// have a hundred executions. Rare means: few among very many others, and last in the order in which the list is read.
import type { ListRequest, PublicState } from '../../../src/index.ts'

export interface Kind {
  readonly label: string
  readonly request: ListRequest
  /** A thousand executions cannot hold a full page in each of twelve states, so there are three small tables. */
  readonly small: SmallTable
}

export type SmallTable = keyof typeof smallTables

export const smallTables = {
  small_1: ['waiting', 'resumable', 'delayed', 'active'],
  small_2: ['suspended', 'waiting_children', 'rate_limited', 'completed'],
  small_3: ['failed', 'cancelled', 'expired', 'skipped'],
} as const satisfies Record<string, readonly PublicState[]>

/** One in a thousand of the large table; a quarter of the small one. */
export const rareStates = ['resumable', 'rate_limited'] as const satisfies readonly PublicState[]

const allStates: readonly PublicState[] = Object.values(smallTables).flat()

export const commonStates: readonly PublicState[] = allStates.filter((state) => !isRare(state))

export const pageSize = 100

export function kindsOf(parentId: string): Kind[] {
  return [
    { label: 'by creation', request: {}, small: 'small_1' },
    { label: 'by namespace', request: { namespace: 'tenant-1' }, small: 'small_1' },
    { label: 'by lane', request: { lane: 'lane-1' }, small: 'small_1' },
    { label: 'by kind', request: { kind: 'kind-1' }, small: 'small_1' },
    { label: 'by tag', request: { tag: { key: 'team', value: 'team-1' } }, small: 'small_1' },
    { label: 'by parent', request: { parentId: parentId }, small: 'small_1' },
    { label: 'by partition', request: { partition: 7 }, small: 'small_1' },
    ...allStates.map((state) => byState(state, {}, isRare(state) ? `${state} (rare)` : state)),
    ...(['waiting', 'delayed', 'active', 'suspended', 'completed'] as const).map((state) =>
      byState(state, { namespace: 'rare' }, `${state}, in a rare namespace`),
    ),
  ]
}

function byState(state: PublicState, filter: ListRequest, label: string): Kind {
  return { label, request: { ...filter, state }, small: smallTableOf(state) }
}

function smallTableOf(state: PublicState): SmallTable {
  const [table] = Object.entries(smallTables).find(([, states]) => (states as readonly PublicState[]).includes(state))!
  return table as SmallTable
}

function isRare(state: PublicState): boolean {
  return (rareStates as readonly PublicState[]).includes(state)
}
