// A sender without a right token is refused before anything is locked, written or evaluated, and learns nothing from the
// refusal: any client can send a signal to a waitpoint over HTTP, without an API key.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import type { Condition } from '../../../../src/model/condition.ts'
import { formatWaitpointId } from '../../../../src/model/id.ts'
import { mintUuid } from '../../../../src/model/uuid.ts'
import { around } from '../../../../src/sql/around.ts'
import type { Sql } from '../../../../src/sql/sql.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held } from '../../execution/holder.ts'
import { forgedLink, forgedToken, linkTo } from './forge.ts'
import { parked, stateOf, type Door } from './parked.ts'
import * as stored from '../../../support/stored.ts'

const anySignal: Condition = { kind: 'signal', waitpoint: 'door' }
const twoSignals: Condition = { kind: 'count', n: 2, distinct: 'signals', waitpoints: ['door'] }
const read = 'signal.read-answerable'
const evaluating = 'signal.lock'
const settled = 'signal.settle'

/** Records the first statement of each round trip. */
async function watched() {
  const fixture = await setup()
  const { sql } = fixture
  const sent: string[] = []
  // A hint is sent separately after a commit, at any time: `query` is not watched.
  const engine = createEngine({
    ...around(sql, (ask) => ask()),
    pipeline(calls, options) {
      sent.push(calls[0]!.statement.name)
      return sql.pipeline(calls, options)
    },
    decide(reads, decide, options) {
      sent.push(reads[0]!.statement.name)
      return sql.decide(reads, decide, options)
    },
  })
  const sentBy = async (act: () => Promise<unknown>): Promise<string[]> => {
    sent.length = 0
    await act()
    return [...sent]
  }
  return { ...fixture, engine, sentBy }
}

/** Every lock of a row leaves its mark on the row, also when the transaction changes nothing. */
async function withoutLocking(sql: Sql, work: () => Promise<void>): Promise<void> {
  const marks = () => stored.executions.versions(sql)
  const before = await marks()
  await withoutWriting(sql, work)
  expect(await marks()).toEqual(before)
}

/** Changes each place once. */
function damaged(text: string): string[] {
  return Array.from(text, (letter, at) => text.slice(0, at) + (letter === '0' ? '1' : '0') + text.slice(at + 1))
}

test('a token that is wrong in any place locks nothing, in the process that opened the waitpoint and in others', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine, anySignal)
  const { waitpointId, token } = doors['door']!
  await withoutLocking(sql, async () => {
    for (const wrong of damaged(token)) {
      await refusal('invalid_token', engine.signals.deliver({ waitpointId, token: wrong, name: 'yes' }))
    }
    for (const none of ['', undefined as never]) {
      await refusal('missing_token', engine.signals.deliver({ waitpointId, token: none, name: 'yes' }))
    }
    const elsewhere = createEngine(sql)
    await refusal('invalid_token', elsewhere.signals.deliver({ waitpointId, token: forgedToken(token), name: 'yes' }))
  })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  expect(await engine.signals.deliver({ waitpointId, token, name: 'yes' })).toMatchObject({ kind: 'accepted' })
})

test('a link that is wrong in any place, or has expired, locks nothing', async () => {
  const { engine, sql, clock } = await setup()
  const { doors } = await parked(engine, anySignal)
  const link = await linkTo(engine, doors['door']!.waitpointId)
  await withoutLocking(sql, async () => {
    for (const wrong of damaged(link)) {
      await refusal('invalid_token', engine.signals.redeem({ link: wrong }))
    }
    await clock.advance('2h')
    await refusal('invalid_token', engine.signals.redeem({ link }))
  })
})

test('a wrong token and an unknown waitpoint are refused with the same words after the same round trips', async () => {
  const { engine, sentBy } = await watched()
  const condition: Condition = { kind: 'anyOf', members: [anySignal, { kind: 'signal', name: 'go' }] }
  const own = (await parked(engine, anySignal)).doors['door']!
  const busy = (await parked(engine, twoSignals)).doors['door']!
  await engine.signals.deliver({ ...busy, name: 'one' })
  const ended = await parked(engine, condition)
  await engine.executions.cancel({ executionId: ended.executionId })
  const ahead = await engine.waitpoints.create({ ...fenceOf(await held(engine)), key: 'ahead' })
  const unknown: Door = { waitpointId: formatWaitpointId(7, mintUuid()), token: own.token }
  const sentences = new Set<string>()
  const deliver = async ({ waitpointId, token }: Door, by = engine): Promise<void> => {
    sentences.add((await refusal('invalid_token', by.signals.deliver({ waitpointId, token, name: 'yes' }))).message)
  }
  const doors = [own, busy, ended.doors['door']!, ahead, unknown]
  for (const { waitpointId, token } of [...doors, ...doors]) {
    expect(await sentBy(() => deliver({ waitpointId, token: forgedToken(token) }))).toEqual([read])
    expect(await sentBy(() => deliver({ waitpointId, token: `other:${token.split(':')[1]!}` }))).toEqual([read])
    expect(await sentBy(() => deliver({ waitpointId, token: 'none' }))).toEqual([])
  }
  const elsewhere = engine.as({ namespace: 'elsewhere' })
  for (const door of doors) expect(await sentBy(() => deliver(door, elsewhere))).toEqual([read])
  expect(sentences.size).toBe(1)
})

test('a wrong link and one to a waitpoint that never existed are refused after the same round trip', async () => {
  const { engine, sql, sentBy } = await watched()
  const { waitpointId } = (await parked(engine, anySignal)).doors['door']!
  const gone = (await parked(engine, anySignal)).doors['door']!
  const [link, unknown] = [await linkTo(engine, waitpointId), await linkTo(engine, gone.waitpointId)]
  await stored.waitpoints.remove(sql, { waitpoint_id: gone.waitpointId.slice(-36) })
  for (const wrong of [forgedLink(link), unknown]) {
    expect(await sentBy(() => refusal('invalid_token', engine.signals.redeem({ link: wrong })))).toEqual([read])
  }
  expect(await sentBy(() => engine.signals.redeem({ link }))).toEqual([read, evaluating])
})

test('a stream through one waitpoint is looked up once; wrong tokens in it do not change that', async () => {
  const { engine, sentBy } = await watched()
  const condition: Condition = { ...twoSignals, n: 5 }
  const { executionId, doors } = await parked(engine, condition)
  const { waitpointId, token } = doors['door']!
  const deliver = (given: string) => engine.signals.deliver({ waitpointId, token: given, name: 'one' })
  expect(await sentBy(() => deliver(token))).toEqual([read, evaluating])
  expect(await sentBy(() => deliver(token))).toEqual([evaluating])
  expect(await sentBy(() => refusal('invalid_token', deliver(forgedToken(token))))).toEqual([read])
  expect(await sentBy(() => deliver(token))).toEqual([evaluating])
  expect(await sentBy(() => Promise.all([deliver(token), deliver(token)]))).toEqual([evaluating])
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('waitpoints that this process opened are not looked up, also for signals that arrive together with the one that ends the wait', async () => {
  const { engine, sentBy } = await watched()
  const { doors } = await parked(engine, anySignal)
  const one = { ...doors['door']!, name: 'yes' }
  let answers: readonly unknown[] = []
  const sent = await sentBy(async () => {
    answers = await engine.signals.deliverMany([one, { ...one, name: 'late' }])
  })
  expect(sent).toEqual([settled, evaluating])
  expect(answers).toMatchObject([
    { effect: 'resume_condition_satisfied' },
    { kind: 'refused', error: { code: 'waitpoint_closed' } },
  ])
})

test('a forged signal before the right one does not keep it from ending the wait', async () => {
  const { engine, sentBy } = await watched()
  const { doors } = await parked(engine, anySignal)
  const right = { ...doors['door']!, name: 'yes' }
  let answers: readonly unknown[] = []
  const sent = await sentBy(async () => {
    answers = await engine.signals.deliverMany([{ ...right, token: forgedToken(right.token) }, right])
  })
  expect(sent).toEqual([read, settled])
  expect(answers).toMatchObject([
    { kind: 'refused', error: { code: 'invalid_token' } },
    { effect: 'resume_condition_satisfied' },
  ])
})

test('a token whose key has expired meanwhile is refused under the lock, and from then on before it', async () => {
  const { engine, clock, sentBy } = await watched()
  const { executionId, doors } = await parked(engine, { ...twoSignals, n: 3 })
  const deliver = () => engine.signals.deliver({ ...doors['door']!, name: 'one' })
  await deliver()
  expect(await sentBy(deliver)).toEqual([evaluating])
  await engine.signingKeys.rotate({ grace: '1m' })
  await clock.advance('61s')
  expect(await sentBy(() => refusal('invalid_token', deliver()))).toEqual([evaluating])
  expect(await sentBy(() => refusal('invalid_token', deliver()))).toEqual([read])
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('the contents sent with a wrong token are not even parsed', async () => {
  const { engine } = await setup()
  const condition: Condition = { ...anySignal, payload: { path: ['ok'], equals: true } }
  const { waitpointId, token } = (await parked(engine, condition)).doors['door']!
  const said = '{"ok":true}'
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const deliver = (given: string) =>
    engine.signals.deliver({ waitpointId, token: given, name: 'yes', payload: Buffer.from(said) })
  await refusal('invalid_token', deliver(forgedToken(token)))
  expect(parse.mock.calls.map(([text]) => text)).not.toContain(said)
  expect(await deliver(token)).toMatchObject({ effect: 'resume_condition_satisfied' })
  expect(parse.mock.calls.map(([text]) => text)).toContain(said)
})
