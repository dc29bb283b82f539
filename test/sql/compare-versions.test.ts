import { expect, test } from 'vitest'
import { compareVersions } from '../../src/sql/compare-versions.ts'

test('versions have the order of semantic versioning', () => {
  const ordered = [
    '0.9.10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0',
    '1.0.1',
    '1.2.0',
    '1.10.0',
    '2.0.0',
  ]
  for (const [index, version] of ordered.entries()) {
    for (const [otherIndex, other] of ordered.entries()) {
      expect(Math.sign(compareVersions(version, other)), `${version} ${other}`).toBe(Math.sign(index - otherIndex))
    }
  }
})

test('build metadata makes no difference', () => {
  expect(compareVersions('1.0.0+abc', '1.0.0')).toBe(0)
})

test.each(['', '1', '1.2', 'v1.2.3', '1.2.x'])('%j is no version', (text) => {
  expect(() => compareVersions(text, '1.0.0')).toThrow('is not a version')
})
