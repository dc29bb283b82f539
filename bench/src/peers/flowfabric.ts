// Through the public API, with default options. The worker is a bare loop: claim a set, request the next, handle the
// first, complete it.
import { randomUUID } from 'node:crypto'
import { connect, jsonCodec } from '../../../src/index.ts'
import type { Claim, CreateRequest, FlowFabric } from '../../../src/index.ts'
import { decodePayload } from './payload.ts'
import type { Payload } from './payload.ts'
import type { Handle, Peer, Worker } from './contract.ts'
import { bySets } from '../../../src/model/sets.ts'

export const setSize = 500
// The claim takes less time than the completion: with one completion under way it would wait for it (measured: a quarter
// slower on two cores, and three are no better than two).
const mostCompleting = 2

export const flowfabric: Peer = {
  async open(url) {
    const ff = await connect(url)
    return {
      create: (payload) => ff.engine.executions.create(request(payload)),
      async createMany(payloads) {
        refuseRefusals(await bySets(payloads.map(request), (set) => ff.engine.executions.createMany(set)))
      },
      close: () => ff.close(),
    }
  },

  async startWorker(url, handle) {
    return work(await connect(url), handle)
  },
}

export function request(payload: Payload): CreateRequest {
  const { bytes, encoding } = jsonCodec.encode(payload)
  return { kind: 'send-email', payload: bytes, payloadEncoding: encoding }
}

function work(ff: FlowFabric, handle: Handle): Worker {
  const { executions } = ff.engine
  const workerInstanceId = randomUUID()
  const stopping = new AbortController()
  const completing: Promise<void>[] = []
  let heldCount = 0

  async function complete(claims: readonly Claim[]): Promise<void> {
    refuseRefusals(
      await executions.completeMany(
        claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch })),
      ),
    )
    heldCount -= claims.length
  }

  async function loop(): Promise<void> {
    const claim = () =>
      executions.claim({
        workerId: 'bench',
        workerInstanceId,
        lanes: ['default'],
        max: setSize,
        wait: '1m',
        signal: stopping.signal,
      })
    let next = claim()
    while (!stopping.signal.aborted) {
      const { claims } = await next
      next = claim()
      next.catch(() => {})
      heldCount += claims.length
      for (const { payload } of claims) handle(decodePayload(payload!))
      if (completing.length === mostCompleting) await completing.shift()
      completing.push(complete(claims))
    }
    // The last claim finds nothing.
    await next.catch(() => {})
  }

  const looping = loop()
  return {
    isDone: async () => heldCount === 0,
    async stop() {
      stopping.abort()
      await looping
      await Promise.all(completing)
      await ff.close()
    },
  }
}

function refuseRefusals(answers: readonly { kind: string }[]): void {
  const refused = answers.find((answer) => answer.kind === 'refused') as { error?: Error } | undefined
  if (refused !== undefined) throw refused.error
}
