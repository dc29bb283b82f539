// A claim whose reply was lost: the worker gives its leases back by itself. The database's clock is frozen in these tests, so
// no lease expires: a run that completes was given back.
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { handleFor } from '../../src/connect/submit.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Claim } from '../../src/engine/execution/claim.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { EngineError } from '../../src/model/errors.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { listen } from '../support/serve-http.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { startLossyProxy, type LossyProxy } from './lossy-proxy.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patient = { interval: 10 }
const payload = 'a reply that is lost'
// In the forms that Postgres sends, binary and text, and in the server's.
const marks = [payload, Buffer.from(payload).toString('hex'), Buffer.from(`"${payload}"`).toString('base64')]

async function overPostgres({ url }: Fixture): Promise<LossyProxy> {
  return startLossyProxy(url)
}

async function overHttp({ engine }: Fixture): Promise<LossyProxy> {
  const server = await listen(engine)
  onTestFinished(() => server.close())
  return startLossyProxy(server.url)
}

async function kindsOfEvents(engine: Engine, id: ExecutionId): Promise<string[]> {
  const { events } = await engine.events.timeline(id)
  // A search for lost claims also renews the leases of running work.
  return events.map((event) => event.kind).filter((kind) => kind !== 'renewed')
}

test.each([
  ['Postgres', overPostgres],
  ['HTTP', overHttp],
])(
  'over %s an idle worker gives back the runs of a claim whose reply was lost, and no reclaim is counted',
  async (_, over) => {
    const fixture = await setup()
    const { engine, clock } = fixture
    await clock.freeze()
    const proxy = await over(fixture)
    const ff = await connect(proxy.url, { logger: silent })
    onTestFinished(() => ff.close())
    const echo = task('echo', async (ctx, text: string) => `${text}, attempt ${ctx.attemptIndex}`)
    const worker = ff.worker({ tasks: [echo], leaseTtl: '1h', handleSignals: false })
    await worker.start()
    proxy.loseReplyWith(...marks)
    const { bytes, encoding } = jsonCodec.encode(payload)
    const { executionId } = await engine.executions.create({ kind: 'echo', payload: bytes, payloadEncoding: encoding })
    const result = await handleFor(engine, jsonCodec, undefined, executionId).result({ timeout: '1m' })
    expect(proxy.lostCount()).toBe(1)
    expect(result).toBe(`${payload}, attempt 0`)
    expect(await kindsOfEvents(engine, executionId)).toEqual(['acquired', 'released', 'acquired', 'ended'])
    expect(await engine.executions.describe(executionId)).toMatchObject({ leaseReclaimCount: 0 })
    await worker.stop()
  },
)

interface Withheld {
  readonly engine: Engine
  readonly taken: Map<string, Claim>
  /** Delays the answers of claims of this kind until the returned function is called. */
  release(): void
  readonly claimCount: () => number
}

/** The claim of `lost` takes effect and its answer is lost, once; the answer to the claim of `late` is delayed. */
function withholding(inner: Engine, lost: string, late: string): Withheld {
  const taken = new Map<string, Claim>()
  let claimCount = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const claim: Engine['executions']['claim'] = async (request) => {
    claimCount += 1
    const result = await inner.executions.claim(request)
    const [first] = result.claims
    if (first === undefined || taken.has(first.kind)) return result
    taken.set(first.kind, first)
    if (first.kind === lost) throw new EngineError('database_unreachable', 'the reply was lost')
    if (first.kind === late) await released
    return result
  }
  const engine = { ...inner, executions: { ...inner.executions, claim } }
  return { engine, taken, release: () => release(), claimCount: () => claimCount }
}

test('the runs of a claim whose answer is still on its way are never given back, while another claim fails beside it', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const withheld = withholding(engine, 'lost', 'late')
  const ran: string[] = []
  const tasks = [
    task('lost', async () => void ran.push('lost')),
    task('late', { version: '2' }, async () => void ran.push('late')),
  ]
  const worker = new Worker(
    { tasks, leaseTtl: '1h', handleSignals: false, logger: silent },
    { engine: withheld.engine },
  )
  onTestFinished(() => worker.stop({ grace: 0 }))
  await worker.start()
  const late = await engine.executions.create({ kind: 'late', version: '2' })
  await expect.poll(() => withheld.taken.has('late'), patient).toBe(true)
  const lost = await engine.executions.create({ kind: 'lost' })
  await expect.poll(() => withheld.taken.has('lost'), patient).toBe(true)
  // The worker has claimed again since, although it could not distinguish the lost lease from the other.
  const claimCount = withheld.claimCount()
  await expect.poll(withheld.claimCount, patient).toBeGreaterThan(claimCount)
  expect(await kindsOfEvents(engine, late.executionId)).toEqual(['acquired'])
  withheld.release()
  await expect.poll(() => ran.toSorted(), patient).toEqual(['late', 'lost'])
  await expect
    .poll(() => kindsOfEvents(engine, lost.executionId), patient)
    .toEqual(['acquired', 'released', 'acquired', 'ended'])
  expect(await kindsOfEvents(engine, late.executionId)).toEqual(['acquired', 'ended'])
})
