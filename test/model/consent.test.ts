import { expect, test } from 'vitest'
import { consentOf } from '../../src/model/consent.ts'

test.each([
  [['approved'], 'approved', true],
  [['Approve'], 'Approve', true],
  [['declined'], 'declined', false],
  [['deny'], 'deny', false],
  [['no'], 'no', false],
  [['NO '], 'NO ', false],
  [['seen'], 'seen', undefined],
  [['toString'], 'toString', undefined],
  [['ship', 'hold'], 'ship', true],
  [['ship', 'hold'], 'hold', false],
  [['rejected', 'approved'], 'approved', true],
  [['rejected', 'approved'], 'rejected', false],
  [['ship', 'rejected'], 'ship', true],
  [['approved', 'hold'], 'hold', false],
  [['declined', 'later'], 'later', undefined],
  [['now', 'yes'], 'now', undefined],
] as const)('for the answers %j, %j is consent: %j', (actions, answer, consent) => {
  expect(consentOf(actions, answer)).toBe(consent)
})
