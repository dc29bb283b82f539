// Signals that arrive while their executions are being suspended. The suspensions are large sets, which continue to lock after
// their snapshot was taken; the signals commit one by one beside them. None may wait beside a suspension that it satisfies.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { WaitpointId } from '../../src/model/id.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { setup } from '../support/setup.ts'
import { engines } from './second-engine.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

const times = 8
const size = 400

interface Holding {
  readonly fence: Fence
  readonly waitpointId: WaitpointId
  readonly token: string
}

const condition = {
  kind: 'anyOf',
  members: [
    { kind: 'signal', waitpoint: 'door' },
    { kind: 'signal', name: 'go' },
  ],
} as const

const ways: Record<string, (engine: Engine, holding: Holding) => Promise<{ readonly effect: string }>> = {
  'by name': ({ signals }, { fence: { executionId } }) => signals.send({ executionId, name: 'go' }),
  'through a waitpoint that was made ahead': ({ signals }, { waitpointId, token }) =>
    signals.deliver({ waitpointId, token, name: 'yes' }),
}

test.each(Object.entries(ways))(
  'a signal %s that arrives while its execution is being suspended resumes it',
  async (_, signal) => {
    const { engine, sql, url } = await setup()
    const senders = await engines(url, 3)
    const met = new Set<string>()
    for (let round = 1; round <= times; round += 1) {
      const holdings = await hold(engine)
      const sending = senders.map(async (sender, place) => {
        // From the end, where the suspensions are last.
        for (const holding of holdings.toReversed().filter((__, index) => index % senders.length === place)) {
          met.add((await signal(sender, holding)).effect)
        }
      })
      const suspending = afterSome(sql, round * 2).then(() =>
        engine.executions.suspendMany(
          holdings.map(({ fence, waitpointId }) => {
            return { ...fence, condition, keepWaitpoints: true, waitpoints: [{ waitpointId }] }
          }),
        ),
      )
      const [answers] = await Promise.all([suspending, ...sending])
      expect(answers.map(({ kind }) => kind)).toEqual(holdings.map(() => 'suspended'))
      expect(await checkInvariants(sql)).toEqual([])
      expect(await stored.executions.all(sql, { lifecycle_phase: 'suspended' })).toEqual([])
      await endAll(engine)
    }
    // Some arrived before, some after.
    expect(met.size).toBe(2)
  },
  patience(90_000),
)

/** In the order of their ids, in which a set is locked. */
async function hold({ executions, waitpoints }: Engine): Promise<Holding[]> {
  await executions.createMany(Array.from({ length: size }, () => ({ kind: 'k' })))
  const { claims } = await executions.claim({ ...worker, max: size, leaseTtl: '1h' })
  const fences = claims.map(fenceOf).toSorted((one, other) => (one.executionId < other.executionId ? -1 : 1))
  return Promise.all(
    fences.map(async (fence) => {
      const { waitpointId, token } = await waitpoints.create({ ...fence, key: 'door' })
      return { fence, waitpointId, token }
    }),
  )
}

/** So many round trips later. */
async function afterSome(sql: Sql, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await sql.script('select')
}

async function endAll({ executions }: Engine): Promise<void> {
  const { claims } = await executions.claim({ ...worker, max: size })
  expect(claims).toHaveLength(size)
  await executions.completeMany(claims.map(fenceOf))
}
