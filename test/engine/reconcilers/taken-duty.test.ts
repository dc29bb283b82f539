import { expect, test } from 'vitest'
import { registerDuty, takeDuty } from '../../../src/engine/reconcilers/taken-duty.ts'
import { setup } from '../../support/setup.ts'

test('a duty that was never given back is free to who took it at once, to others when its time is up', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const [one, other] = ['one', 'other'].map((takenBy) => ({ duty: 'd', filter: '', takenBy }))
  await registerDuty(sql, one!)
  expect(await takeDuty(sql, one!)).toMatchObject({ kind: 'taken' })
  expect(await takeDuty(sql, other!)).toEqual({ kind: 'waits', ms: 10_000 })
  expect(await takeDuty(sql, one!)).toMatchObject({ kind: 'taken' })
  await clock.advance('10s')
  expect(await takeDuty(sql, other!)).toMatchObject({ kind: 'taken' })
  expect(await takeDuty(sql, one!)).toEqual({ kind: 'waits', ms: 10_000 })
})
