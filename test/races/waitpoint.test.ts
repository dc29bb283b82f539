// A waitpoint that is created while its execution ends or starts anew: in either order, none stays open behind it. The
// endings are large sets, which continue to lock after their snapshot was taken; the creates commit one by one beside them.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { setup } from '../support/setup.ts'
import { codeOf } from './meeting.ts'
import { engines } from './second-engine.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

// Five hundred pairs compete. When a second create did not write to the execution, some were left open every time.
const times = 10
const size = 50

/** In one set each. */
const endings: Record<string, (engine: Engine, fences: readonly Fence[], sql: Sql) => Promise<unknown>> = {
  complete: ({ executions }, fences) => executions.completeMany(fences),
  fail: ({ executions }, fences) => Promise.all(fences.map((fence) => executions.fail({ ...fence, reason: 'broke' }))),
  cancel: ({ executions }, fences) => executions.cancelMany(fences.map(({ executionId }) => ({ executionId }))),
  restart: ({ executions }, fences) => Promise.all(fences.map((fence) => executions.restart(fence))),
  async 'execution-deadline'(_, __, sql) {
    await stored.executions.change(sql, { deadline_at_ms: 1 }, { lifecycle_phase: 'active' })
    await executionDeadline.runOnce(sql)
  },
}

test.each(Object.entries(endings))(
  'a second waitpoint that is created while %s is in progress is closed by it, or refused',
  async (_, end) => {
    const { engine, sql, url } = await setup()
    const creators = await engines(url, 3)
    for (let round = 1; round <= times; round += 1) {
      const fences = await heldWithWaitpoint(engine)
      const creating = creators.map(async (creator, place) => {
        // From the end, where the other is last.
        for (const fence of fences.toReversed().filter((__, index) => index % creators.length === place)) {
          const code = await codeOf(creator.waitpoints.create({ ...fence, key: 'second' }))
          if (code !== 'waitpoint_created') return
        }
      })
      await Promise.all([...creating, afterSome(sql, round % 16).then(() => end(engine, fences, sql))])
      // Executions that the duty passed over.
      await executionDeadline.runOnce(sql)
      expect(await checkInvariants(sql)).toEqual([])
      expect(await stored.waitpoints.all(sql, `state <> 'closed'`)).toEqual([])
      await stored.waitpoints.remove(sql)
      await endAll(engine)
    }
  },
  patience(90_000),
)

async function heldWithWaitpoint({ executions, waitpoints }: Engine): Promise<Fence[]> {
  await executions.createMany(Array.from({ length: size }, () => ({ kind: 'k' })))
  const { claims } = await executions.claim({ ...worker, max: size, leaseTtl: '1h' })
  const fences = claims.map(fenceOf).toSorted((one, other) => (one.executionId < other.executionId ? -1 : 1))
  await Promise.all(fences.map((fence) => waitpoints.create({ ...fence, key: 'first' })))
  return fences
}

/** So many round trips later. */
async function afterSome(sql: Sql, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await sql.script('select')
}

/** Executions that started anew. */
async function endAll({ executions }: Engine): Promise<void> {
  const { claims } = await executions.claim({ ...worker, max: size })
  await executions.completeMany(claims.map(fenceOf))
}
