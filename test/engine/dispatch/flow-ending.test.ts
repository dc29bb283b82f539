// How a flow ends: by what is last in it, because nobody comes after that who could have caught a failure.
import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { walk } from '../flow/walk.ts'

test.each([
  ['nothing was to be compensated', ['a > rescue on_failure'], { a: 'completed' }, 'success'],
  ['a failure is compensated', ['a > rescue on_failure'], { a: 'failed', rescue: 'completed' }, 'success'],
  ['the compensation fails too', ['a > rescue on_failure'], { a: 'failed', rescue: 'failed' }, 'failed'],
  ['an optional member fails', ['a > b optional'], { a: 'failed', b: 'completed' }, 'success'],
  ['a failure skips the last', ['a > b', 'b > c'], { a: 'failed' }, 'failed'],
  ['the last is cancelled', ['a > b'], { a: 'completed', b: 'cancelled' }, 'failed'],
  ['what follows is not needed either', ['a > rescue on_failure', 'rescue > report'], { a: 'completed' }, 'success'],
  ['who compensates was skipped by a failure', ['a > b', 'b > rescue on_failure'], { a: 'failed' }, 'failed'],
] as const)('%s', async (_, edges, endings, outcome) => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges })
  for (const [name, as] of Object.entries(endings)) await flow.end(name, as)
  expect(await flow.row()).toMatchObject({ outcome })
  const { events } = await fixture.engine.flows.timeline(flow.flowId)
  expect(events.map(({ kind, outcome: told }) => [kind, told]).at(-1)).toEqual(['flow_ended', outcome])
  expect(events.filter(({ kind }) => kind === 'flow_ended')).toHaveLength(1)
})

test('one of any that fails does not fail the flow when another wins', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } })
  await flow.end('a', 'failed')
  await flow.end('b')
  await flow.end('c')
  expect(await flow.row()).toMatchObject({ outcome: 'success', failed_count: 1, success_count: 2 })
})

test('a flow that stays open does not end with its last member', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { members: ['a'] }, { stayOpen: true })
  await flow.end('a')
  expect(await flow.row()).toMatchObject({ outcome: 'none', success_count: 1 })
  await fixture.engine.flows.close({ flowId: flow.flowId })
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})
