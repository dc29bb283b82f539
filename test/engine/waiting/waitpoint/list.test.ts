import { expect, test } from 'vitest'
import type { Condition } from '../../../../src/model/condition.ts'
import { mintExecutionId } from '../../../../src/model/id.ts'
import { tokenFingerprint } from '../../../../src/model/token.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { fenceOf, held } from '../../execution/holder.ts'
import { answer, waiting } from '../suspension/waiting.ts'
import * as stored from '../../../support/stored.ts'

test('WPT-11 an open waitpoint is listed with everything but its token', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await engine.serverTime()
  const condition: Condition = { kind: 'signal', waitpoint: 'approval', name: 'approved' }
  const { claim, waitpoint } = await waiting(engine, { condition })
  const page = await engine.waitpoints.list(claim.executionId)
  const [kid] = waitpoint.token!.split(':')
  expect(page).toEqual({
    waitpoints: [
      {
        waitpointId: waitpoint.waitpointId,
        executionId: claim.executionId,
        key: 'approval',
        state: 'active',
        requiredSignalNames: ['approved'],
        signalCount: 0,
        createdAt: now,
        activatedAt: now,
        expiresAt: null,
        tokenKid: kid,
        tokenFingerprint: tokenFingerprint(waitpoint.token!),
      },
    ],
    nextCursor: null,
  })
  expect(JSON.stringify(page)).not.toContain(waitpoint.token!.split(':')[1])
})

test('WPT-12 the list has pages and hides closed waitpoints', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  expect(await engine.waitpoints.list(executionId)).toEqual({ waitpoints: [], nextCursor: null })
  for (const key of ['a', 'b', 'c', 'd', 'e']) await engine.waitpoints.create({ ...fenceOf(claim), key })
  const keys: string[][] = []
  let cursor: string | null = null
  do {
    const page = await engine.waitpoints.list(executionId, { limit: 2, ...(cursor === null ? {} : { cursor }) })
    keys.push(page.waitpoints.map(({ key }) => key))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(keys).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  expect((await engine.waitpoints.list(executionId, { limit: 0 })).waitpoints).toHaveLength(1)
  expect((await engine.waitpoints.list(executionId, { limit: 5000 })).waitpoints).toHaveLength(5)
  await engine.executions.complete(fenceOf(claim))
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  await refusal('execution_not_found', engine.waitpoints.list(mintExecutionId()))
  await refusal('invalid_cursor', engine.waitpoints.list(executionId, { cursor: 'nothing' }))
})

test('WPT-12 a page has a hundred by default, and never more than a thousand', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'k' })
  await stored.waitpoints.multiply(sql, 1000, { waitpoint_id: 'gen_random_uuid()' })
  expect((await engine.waitpoints.list(executionId)).waitpoints).toHaveLength(100)
  const page = await engine.waitpoints.list(executionId, { limit: 5000 })
  expect(page.waitpoints).toHaveLength(1000)
  const rest = await engine.waitpoints.list(executionId, { limit: 5000, cursor: page.nextCursor! })
  expect(rest).toMatchObject({ waitpoints: [{}], nextCursor: null })
})

test('WPT-12 the waitpoints of a suspension that is over are hidden', async () => {
  const { engine } = await setup()
  const { claim, waitpoint } = await waiting(engine)
  await answer(engine, waitpoint)
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toEqual([])
})

test.each<[string, Condition, Record<string, string[]>]>([
  ['a name', { kind: 'signal', waitpoint: 'a', name: 'x' }, { a: ['x'] }],
  ['any', { kind: 'signal', waitpoint: 'a' }, { a: [] }],
  [
    'a name on each',
    {
      kind: 'allOf',
      members: [
        { kind: 'signal', waitpoint: 'a', name: 'x' },
        { kind: 'signal', waitpoint: 'b', name: 'y' },
      ],
    },
    { a: ['x'], b: ['y'] },
  ],
  [
    'a count with a name',
    { kind: 'count', n: 2, distinct: 'waitpoints', waitpoints: ['a', 'b'], name: 'x' },
    { a: ['x'], b: ['x'] },
  ],
  [
    'the same name twice',
    {
      kind: 'anyOf',
      members: [
        { kind: 'signal', waitpoint: 'a', name: 'x' },
        { kind: 'signal', waitpoint: 'a', name: 'x', source: { type: 'link' } },
      ],
    },
    { a: ['x'] },
  ],
])('WPT-13 the required names follow from the condition: %s', async (_, condition, names) => {
  const { engine } = await setup()
  const { claim } = await waiting(engine, { condition })
  const { waitpoints } = await engine.waitpoints.list(claim.executionId)
  expect(Object.fromEntries(waitpoints.map(({ key, requiredSignalNames }) => [key, requiredSignalNames]))).toEqual(
    names,
  )
})

test('WPT-13 a waitpoint that no signal can satisfy reports that', async () => {
  const { engine } = await setup()
  const waitpoints = [{ key: 'a' }]
  const operator = await waiting(engine, { condition: { kind: 'operator' }, waitpoints })
  const timeout = await waiting(engine, { condition: { kind: 'timeout' }, timeout: '1h', waitpoints })
  const namesOf = async ({ claim }: typeof operator) =>
    (await engine.waitpoints.list(claim.executionId)).waitpoints[0]!.requiredSignalNames
  expect(await namesOf(operator)).toEqual(['__operator_only__'])
  expect(await namesOf(timeout)).toEqual(['__timeout_only__'])
})
