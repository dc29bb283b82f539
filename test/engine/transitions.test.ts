// The engine changes state vectors exactly as the table of the model says: each row of the table is one case here, and no case makes a
// change that the table does not have.
import { expect, test } from 'vitest'
import { attemptTimeout } from '../../src/engine/duties/attempt-timeout.ts'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { suspensionTimeout } from '../../src/engine/duties/suspension-timeout.ts'
import { suspensionWake } from '../../src/engine/duties/suspension-wake.ts'
import type { CreateRequest } from '../../src/engine/execution/create-request.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import type { TimeoutBehaviour } from '../../src/model/suspension.ts'
import { transitions, type Transition } from '../../src/model/transition.ts'
import { transitionsBetween, vectorText } from '../../src/model/transition-walk.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { watchVectors } from '../support/watch-vectors.ts'
import { fenceOf } from './execution/holder.ts'
import { grown } from './flow/grown.ts'
import { submit } from './flow/walk.ts'
import * as stored from '../support/stored.ts'

type Timed = typeof stored.executions | typeof stored.leases | typeof stored.suspensions

const cases: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  claim: (stage) => stage.hold(),
  promote: async (stage) => {
    await stage.isDue('delay_until_ms', await stage.create({ delay: '1h' }))
    await delayedPromoter.runOnce(stage.sql)
  },

  delay: async (stage) => stage.executions.delay({ ...(await stage.hold()), for: '1h' }),
  'delay: its time has passed': async (stage) => stage.executions.delay({ ...(await stage.hold()), for: 0 }),
  release: async (stage) => stage.executions.release(await stage.hold()),
  revoke: async (stage) => stage.engine.leases.revoke({ executionId: (await stage.hold()).executionId }),
  'lease-expiry: reclaims are left': async (stage) => stage.expire(await stage.hold()),
  'lease-expiry: it is not the first in a row': async (stage) => {
    const { executionId } = await stage.hold()
    await stage.expire({ executionId })
    await stage.expire(await stage.claim(executionId))
  },
  'lease-expiry: at the reclaim limit': async (stage) => {
    await stage.expire(await stage.hold({ policy: { maxReclaimCount: 0 } }))
  },

  complete: async (stage) => stage.executions.complete(await stage.hold()),
  'fail: a retry is left': (stage) => stage.fail({ policy: retried(60_000) }),
  'fail: a retry is left and waits for nothing': (stage) => stage.fail({ policy: retried(0) }),
  'fail: no retry is left': (stage) => stage.fail(),
  'attempt-timeout: a retry is left': async (stage) => stage.timeOut(await stage.hold({ policy: retried(60_000) })),
  'attempt-timeout: a retry is left and waits for nothing': async (stage) => {
    await stage.timeOut(await stage.hold({ policy: retried(0) }))
  },
  'attempt-timeout: no retry is left': async (stage) => stage.timeOut(await stage.hold()),
  'attempt-timeout: it has something to clean up': async (stage) => stage.timeOut(await stage.compensating()),

  suspend: (stage) => stage.suspend(),
  'suspend: it was asked to stop': async (stage) => {
    const fence = await stage.askedToStop()
    await stage.executions.suspend({ ...fence, condition: { kind: 'signal', name: 'go' } })
  },
  signal: async (stage) => stage.engine.signals.send({ executionId: await stage.suspend(), name: 'go' }),
  'signal: with a resume delay': async (stage) => {
    await stage.engine.signals.send({ executionId: await stage.suspend({ resumeDelay: '1h' }), name: 'go' })
  },
  'children-ended': (stage) => stage.endChild(),
  'children-ended: with a resume delay': (stage) => stage.endChild({ resumeDelay: '1h' }),
  'suspension-wake': (stage) => stage.reachTime(),
  'suspension-wake: with a resume delay': (stage) => stage.reachTime({ resumeDelay: '1h' }),
  'suspension-timeout: resume': (stage) => stage.timeOutWait('auto_resume_with_timeout_signal'),
  'suspension-timeout: fail': (stage) => stage.timeOutWait('fail'),
  'suspension-timeout: cancel': (stage) => stage.timeOutWait('cancel'),
  'suspension-timeout: expire': (stage) => stage.timeOutWait('expire'),

  depend: async ({ engine }) => (await grown(engine, ['a', 'b'])).connect('a > b'),
  'dependencies-satisfied': async (stage) => {
    const { members } = await submit(stage.engine, { edges: ['a > b'] })
    await stage.complete(members['a']!)
  },
  'dependencies-satisfied: its delay is not over': async (stage) => {
    const later = { name: 'b', kind: 'b', delay: '1h' } as const
    const { members } = await submit(stage.engine, { edges: ['a > b'], members: [later] })
    await stage.complete(members['a']!)
  },
  'flow-ended: the nested flow succeeded': async (stage) => {
    const { innerFlows } = await submit(stage.engine, { members: [nested] })
    await stage.fixture.dispatched()
    await stage.complete(innerFlows['inner']!.members['x']!)
  },
  'flow-ended: the nested flow failed': async (stage) => {
    const { innerFlows } = await submit(stage.engine, { members: [nested] })
    await stage.fixture.dispatched()
    await stage.failForGood(innerFlows['inner']!.members['x']!)
  },

  'ask-to-stop: it is suspended': async (stage) => {
    const fence = await stage.compensating()
    await stage.executions.suspend({ ...fence, condition: { kind: 'signal', name: 'go' } })
    await stage.executions.cancel({ executionId: fence.executionId })
  },
  'ask-to-stop: it is delayed': async (stage) => {
    const fence = await stage.compensating()
    await stage.executions.delay({ ...fence, for: '1h' })
    await stage.executions.cancel({ executionId: fence.executionId })
  },
  restart: async (stage) => stage.executions.restart(await stage.hold()),
  'restart: it was asked to stop': async (stage) => stage.executions.restart(await stage.askedToStop()),

  'cancel: before its first claim': async (stage) => {
    await stage.executions.cancel({ executionId: await stage.create() })
  },
  cancel: async (stage) => stage.executions.cancel({ executionId: (await stage.hold()).executionId }),
  'cancel: replayed, and never claimed': async (stage) => {
    await stage.executions.cancel({ executionId: await stage.replayedUnclaimed() })
  },
  'deadline: before its first claim': async (stage) => stage.pass(await stage.create()),
  deadline: async (stage) => stage.pass((await stage.hold()).executionId),
  'deadline: replayed, and never claimed': async (stage) => stage.pass(await stage.replayedUnclaimed()),
  'skip: before its first claim': async (stage) => {
    const { members } = await submit(stage.engine, { edges: ['a > b'] })
    await stage.failForGood(members['a']!)
  },
  skip: async (stage) => {
    const { ids, connect } = await grown(stage.engine, ['a', 'b'])
    await stage.complete(ids['b']!)
    await stage.executions.replay({ executionId: ids['b']! })
    await connect('a > b')
    await stage.failForGood(ids['a']!)
  },
  'skip: replayed, and never claimed': async (stage) => {
    const { ids, connect } = await grown(stage.engine, ['a', 'b'])
    await stage.executions.cancel({ executionId: ids['b']! })
    await stage.fixture.dispatched()
    await stage.executions.replay({ executionId: ids['b']! })
    await connect('a > b')
    await stage.failForGood(ids['a']!)
  },

  replay: (stage) => stage.replayedUnclaimed(),
  'replay: a member of a flow that waits again': async (stage) => {
    const { members } = await submit(stage.engine, { edges: ['a > b'] })
    await stage.failForGood(members['a']!)
    await stage.executions.replay({ executionId: members['a']! })
  },
}

const nested = { name: 'inner', flow: { kind: 'inner', members: [{ name: 'x', kind: 'x' }] } }
const worker = { workerId: 'w', workerInstanceId: 'w-1' }

function retried(delayMs: number) {
  return { retry: { attempts: 3, backoff: { type: 'fixed', delayMs } } } as const
}

/** The steps that the cases share. Executions are claimed by id, so one case does not take those of another. */
class Stage {
  readonly fixture: Fixture
  readonly engine: Fixture['engine']
  readonly executions: Fixture['engine']['executions']
  readonly sql: Fixture['sql']

  constructor(fixture: Fixture) {
    this.fixture = fixture
    this.engine = fixture.engine
    this.executions = fixture.engine.executions
    this.sql = fixture.sql
  }

  async create(request: Partial<CreateRequest> = {}): Promise<ExecutionId> {
    return (await this.executions.create({ kind: 'k', ...request })).executionId
  }

  async claim(executionId: ExecutionId): Promise<Fence & { readonly executionId: ExecutionId }> {
    const { grantId } = await this.executions.grant({ ...worker, executionId })
    const claim = await this.executions.claimById({ ...worker, executionId, grantId, leaseTtl: '1h' })
    return { ...fenceOf(claim), executionId }
  }

  async hold(request: Partial<CreateRequest> = {}) {
    return this.claim(await this.create(request))
  }

  async compensating() {
    const fence = await this.hold()
    await this.engine.steps.record({ ...fence, name: 'undo', kind: 'compensation', state: 'pending', tryCount: 0 })
    return fence
  }

  async askedToStop() {
    const fence = await this.compensating()
    await this.executions.cancel({ executionId: fence.executionId })
    return fence
  }

  async suspend(more: object = {}): Promise<ExecutionId> {
    const fence = await this.hold()
    await this.executions.suspend({ ...fence, condition: { kind: 'signal', name: 'go' }, ...more })
    return fence.executionId
  }

  async complete(executionId: ExecutionId): Promise<void> {
    await this.executions.complete(await this.claim(executionId))
    await this.fixture.dispatched()
  }

  async failForGood(executionId: ExecutionId): Promise<void> {
    await this.executions.fail({ ...(await this.claim(executionId)), reason: 'broke', permanent: true })
    await this.fixture.dispatched()
  }

  async fail(request: Partial<CreateRequest> = {}): Promise<void> {
    await this.executions.fail({ ...(await this.hold(request)), reason: 'broke' })
  }

  async endChild(more: object = {}): Promise<void> {
    const fence = await this.hold()
    const child = await this.create({ parentId: fence.executionId })
    await this.executions.suspend({ ...fence, condition: { kind: 'child', executionId: child }, ...more })
    await this.complete(child)
  }

  async replayedUnclaimed(): Promise<ExecutionId> {
    const executionId = await this.create()
    await this.executions.cancel({ executionId })
    await this.executions.replay({ executionId })
    return executionId
  }

  async isDue(timer: string, executionId: ExecutionId, table: Timed = stored.executions): Promise<void> {
    await table.change(this.sql, `${timer} = 1`, { execution_id: executionId })
  }

  async expire({ executionId }: { readonly executionId: ExecutionId }): Promise<void> {
    await this.isDue('expires_at_ms', executionId, stored.leases)
    await leaseExpiry.runOnce(this.sql)
  }

  async timeOut({ executionId }: { readonly executionId: ExecutionId }): Promise<void> {
    await this.isDue('attempt_deadline_at_ms', executionId)
    await attemptTimeout.runOnce(this.sql)
  }

  async timeOutWait(timeoutBehaviour: TimeoutBehaviour): Promise<void> {
    const executionId = await this.suspend({ timeout: '1h', timeoutBehaviour })
    await this.isDue('timeout_at_ms', executionId, stored.suspensions)
    await suspensionTimeout.runOnce(this.sql)
  }

  /** Advances the clock to the point in time that it waits for. */
  async reachTime(more: object = {}): Promise<void> {
    const at = (await this.fixture.clock.now()) + 60_000
    await this.suspend({ condition: { kind: 'time', at }, ...more })
    await this.fixture.clock.advance('1m')
    await suspensionWake.runOnce(this.sql)
  }

  /** Its deadline passes. */
  async pass(executionId: ExecutionId): Promise<void> {
    await this.isDue('deadline_at_ms', executionId)
    await executionDeadline.runOnce(this.sql)
  }
}

function nameOf({ name, when }: Transition): string {
  return when === undefined ? name : `${name}: ${when}`
}

const rowsInUse = transitions.filter(({ isPlanned = false }) => !isPlanned)

test('each row of the table has its case', () => {
  expect(Object.keys(cases).toSorted()).toEqual(rowsInUse.map(nameOf).toSorted())
})

test('the engine makes each change of the table, and no other', async () => {
  const fixture = await setup()
  const changes = await watchVectors(fixture.owner)
  const stage = new Stage(fixture)
  for (const row of rowsInUse) {
    await cases[nameOf(row)]!(stage)
    const found = (await changes()).map(({ from, to }) => ({ from, to, rows: transitionsBetween(from, to) }))
    const unknown = found.filter(({ rows }) => rows.length === 0)
    expect(unknown.map(({ from, to }) => `${vectorText(from)} -> ${vectorText(to)}`)).toEqual([])
    expect(
      found.some(({ rows }) => rows.includes(row)),
      nameOf(row),
    ).toBe(true)
    await changes.forget()
  }
})
