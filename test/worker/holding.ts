// A holder of leases without periodic renewals: it checks its leases only when a hint arrives.
import { inject, onTestFinished, vi } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { openEngine, type OpenEngine } from '../../src/engine/engine.ts'
import { silent } from '../../src/sql/logger.ts'
import type { Lease } from '../../src/worker/lease.ts'
import { Leases } from '../../src/worker/leases.ts'
import type { Fixture } from '../support/setup.ts'

export interface Holding {
  readonly open: OpenEngine
  /** How many leases each check covered. */
  readonly checks: readonly number[]
  readonly held: readonly Lease[]
  readonly ids: readonly string[]
}

/** Leases `count` of the executions that `create` made, in claim order. */
export async function holding(
  { sql }: Fixture,
  count: number,
  create: (engine: Engine) => Promise<unknown> = (engine) => createMany(engine, count),
): Promise<Holding> {
  const open = openEngine(sql)
  await listening(open)
  const checks: number[] = []
  const engine: Engine = {
    ...open.engine,
    leases: {
      ...open.engine.leases,
      check: (request) => {
        checks.push(request.leases.length)
        return open.engine.leases.check(request)
      },
    },
  }
  const leases = new Leases({
    engine,
    workerInstanceId: 'holder',
    leaseTtlMs: 60_000,
    logger: silent,
    isClaiming: () => false,
    onUnknown: () => {},
    onPulse: () => {},
    onStoppedRun: open.onStoppedRun,
  })
  onTestFinished(() => leases.stop())
  await create(open.engine)
  const identity = { workerId: 'holder', workerInstanceId: 'holder', lanes: ['default'], leaseTtl: 60_000 }
  const { claims } = await open.engine.executions.claim({ ...identity, max: count })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const held = claims.map((claim) => leases.hold(claim, performance.now()))
  vi.useRealTimers()
  return { open, checks, held, ids: held.map(({ fence }) => fence.executionId) }
}

async function createMany(engine: Engine, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) await engine.executions.create({ kind: 'held' })
}

/** Waits for the one notification that a new listener gets because it may have missed hints. */
async function listening(open: OpenEngine): Promise<void> {
  if (inject('backend') === 'embedded') return
  await new Promise<void>((resolve) => {
    const end = open.onStoppedRun((executionId) => {
      if (executionId !== null) return
      end()
      resolve()
    })
  })
}
