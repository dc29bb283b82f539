import { expect, test } from 'vitest'
import { describeActor, formatActor, parseActor } from '../../src/model/actor.ts'
import { bindAdmitted, type Caller } from '../../src/model/caller.ts'
import { refused } from './refused.ts'

const local: Caller = { namespace: null, actor: 'local', keyId: null }
const ops = bindAdmitted(local, { actor: 'ops', keyId: 'k1' })

test.each([
  { name: 'local', keyId: null, onBehalfOf: null },
  { name: 'ops', keyId: 'k1', onBehalfOf: null },
  { name: 'ops', keyId: 'k1', onBehalfOf: 'Ann Müller' },
])('%j is read back from its text', (actor) => {
  expect(parseActor(formatActor(actor))).toEqual(actor)
})

test('a caller with a key stays the actor, and names the actor it stands for', () => {
  expect(parseActor(ops.actor)).toEqual({ name: 'ops', keyId: 'k1', onBehalfOf: null })
  const forAnn = bindAdmitted(ops, { actor: 'ann' })
  expect([parseActor(forAnn.actor), forAnn.keyId]).toEqual([{ name: 'ops', keyId: 'k1', onBehalfOf: 'ann' }, 'k1'])
  expect(parseActor(bindAdmitted(forAnn, { actor: 'bob' }).actor).onBehalfOf).toBe('bob')
  expect(bindAdmitted(forAnn, { namespace: 'shop' })).toEqual({ ...forAnn, namespace: 'shop' })
  expect([describeActor(ops.actor), describeActor(forAnn.actor)]).toEqual(['ops', 'ops for ann'])
})

test('without a key the named actor acts', () => {
  expect(bindAdmitted(local, { actor: 'ann' })).toEqual({ namespace: null, actor: 'ann', keyId: null })
})

test.each(['', 'a\u001fk2', 'ceo\r\n', 'x'.repeat(257)])('%j is no actor', (actor) => {
  refused('invalid_input', () => bindAdmitted(local, { actor }))
  refused('invalid_input', () => bindAdmitted(ops, { actor }))
})
