// The process that measures flows next to executions without any. Each lap prepares its load, and returns the time of
// the work on it.
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import { connect, mintFlowId } from '../../../src/index.ts'
import type { Engine, GraphEdge, GraphMember } from '../../../src/index.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import { serve } from '../child.ts'
import { drain, load } from '../drain/drain.ts'
import { flowfabric, request } from '../peers/flowfabric.ts'
import { makePayload } from '../peers/payload.ts'
import { bySets } from '../../../src/model/sets.ts'

export interface FlowInput {
  readonly url: string
  /** The acts of later orders, which are warmed up before. */
  readonly acts: readonly FlowOrder['act'][]
}

export interface FlowOrder {
  readonly act: keyof typeof laps
  readonly count: number
}

type Lap = (url: string, count: number) => Promise<{ ms: number }>

const laps = { plain, chains, fan, create, submit, cancelEach, cancelFlow } satisfies Record<string, Lap>
const chainLength = 10
const warmUpCount = 1000

await serve<{ readonly ms: number }, FlowOrder>(async (input) => {
  const { url, acts } = input as FlowInput
  for (const act of new Set(acts)) await laps[act](url, warmUpCount)
  return { obey: ({ act, count }) => laps[act](url, count), close: async () => {} }
})

async function plain(url: string, count: number): Promise<{ ms: number }> {
  await load(flowfabric, url, count)
  return drain(flowfabric, url, count)
}

/** Flows of ten members, each after the one before it; a worker runs them all. */
async function chains(url: string, count: number): Promise<{ ms: number }> {
  await within(url, async ({ flows }) => {
    const graph = (first: number) => chain(Array.from({ length: chainLength }, (_, index) => first + index))
    for (let first = 0; first < count; first += chainLength) await flows.submitGraph(graph(first))
  })
  return drained(url, count)
}

/** One member, then all the others but one beside each other, then the last one. */
async function fan(url: string, count: number): Promise<{ ms: number }> {
  await within(url, async ({ flows }) => {
    const members = Array.from({ length: count }, (_, index) => member(index))
    const [first, last] = [members[0]!.name, members.at(-1)!.name]
    const edges = members.slice(1, -1).flatMap(({ name }) => [
      { upstream: first, downstream: name },
      { upstream: name, downstream: last },
    ])
    await flows.submitGraph({ kind: 'fan', members, edges })
  })
  return drained(url, count)
}

async function create(url: string, count: number): Promise<{ ms: number }> {
  const requests = Array.from({ length: count }, (_, index) => request(makePayload(index)))
  const lap = await within(url, ({ executions }) => timed(() => bySets(requests, (set) => executions.createMany(set))))
  await drain(flowfabric, url, count)
  return lap
}

/** The same number of executions as one graph, each after the one before it. */
async function submit(url: string, count: number): Promise<{ ms: number }> {
  const graph = chain(Array.from({ length: count }, (_, index) => index))
  const flowId = mintFlowId()
  return within(url, async ({ flows }) => {
    const lap = await timed(() => flows.submitGraph({ ...graph, flowId }))
    await flows.cancel({ flowId, wait: '1m' })
    return lap
  })
}

function cancelEach(url: string, count: number): Promise<{ ms: number }> {
  return within(url, async ({ executions }) => {
    const created = await bySets(
      Array.from({ length: count }, (_, index) => request(makePayload(index))),
      (set) => executions.createMany(set),
    )
    const ids = created.flatMap((answer) => (answer.kind === 'refused' ? [] : [{ executionId: answer.executionId }]))
    return timed(() => bySets(ids, (set) => executions.cancelMany(set)))
  })
}

/** All members are ready, and are ended by one call. */
function cancelFlow(url: string, count: number): Promise<{ ms: number }> {
  return within(url, async ({ flows }) => {
    const members = Array.from({ length: count }, (_, index) => member(index))
    const { flowId } = await flows.submitGraph({ kind: 'wide', members })
    return timed(async () => {
      await flows.cancel({ flowId, wait: '1m' })
      await flows.wait(flowId, { timeout: '1m' })
    })
  })
}

function chain(sequence: readonly number[]) {
  const members = sequence.map(member)
  const edges: GraphEdge[] = members
    .slice(1)
    .map(({ name }, index) => ({ upstream: members[index]!.name, downstream: name }))
  return { kind: 'chain', members, edges }
}

function member(sequence: number): GraphMember & { readonly name: string } {
  return { name: `member-${sequence}`, ...request(makePayload(sequence)) }
}

/** By a worker of its own; the dispatches of its last endings are done before the next lap. */
async function drained(url: string, count: number): Promise<{ ms: number }> {
  const lap = await drain(flowfabric, url, count)
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  while ((await dispatch.runOnce(sql)).processed > 0);
  await sql.close()
  return lap
}

async function within<T>(url: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const ff = await connect(url)
  const answer = await work(ff.engine)
  await ff.close()
  return answer
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number }> {
  const startedAt = performance.now()
  await work()
  return { ms: performance.now() - startedAt }
}
