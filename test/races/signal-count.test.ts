// Signals that end a wait, beside others to the same waitpoints that do not. The former are large sets, which continue to lock
// after their snapshot was taken; the latter commit one by one beside them. Every one of them counts.
import { expect, test } from 'vitest'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { codeOf } from './meeting.ts'
import { engines } from './second-engine.ts'
import { suspended } from './suspended.ts'
import * as stored from '../support/stored.ts'

const times = 8
const size = 400

test('the newest record of an execution has the number of all signals that it received, whichever arrived beside it', async () => {
  const { engine, sql, url } = await setup()
  const senders = await engines(url, 3)
  const met = new Set<string>()
  for (let round = 1; round <= times; round += 1) {
    const condition = { kind: 'signal', waitpoint: 'answer', name: 'yes' } as const
    const waits = (await suspended(engine, size, { condition })).toSorted((one, other) =>
      one.executionId < other.executionId ? -1 : 1,
    )
    const sending = senders.map(async (sender, place) => {
      // From the end, which the set reaches last.
      for (const { waitpointId, token } of waits.toReversed().filter((_, index) => index % senders.length === place)) {
        met.add(await codeOf(sender.signals.deliver({ waitpointId, token, name: 'perhaps' })))
      }
    })
    for (let turn = 0; turn < round * 2; turn += 1) await sql.script('select')
    const answers = await engine.signals.deliverMany(
      waits.map(({ waitpointId, token }) => ({ waitpointId, token, name: 'yes' })),
    )
    await Promise.all(sending)
    expect(answers.filter(({ kind }) => kind !== 'accepted')).toEqual([])
    const short = `
      select execution_id, count(*), max(received_count)
      from ${stored.signals.qualified}
      group by execution_id
      having count(*) <> max(received_count)`
    expect(await rows(sql, short)).toEqual([])
    const { claims } = await engine.executions.claim({ ...worker, max: size })
    await engine.executions.completeMany(claims.map(fenceOf))
  }
  // Some arrived before, some after.
  expect([...met].toSorted()).toEqual(['accepted', 'waitpoint_closed'])
})
