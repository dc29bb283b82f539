import { expect, test } from 'vitest'
import { mismatchOf } from '../../src/model/served.ts'

const plain = { kind: 'k', version: null, capabilities: [] }
const anyKind = { kinds: null, versions: [], capabilities: [] }

test('a worker that names nothing serves every kind that needs no version and no capabilities', () => {
  expect(mismatchOf(anyKind, plain)).toBeNull()
  expect(mismatchOf(anyKind, { ...plain, version: '1' })?.details).toEqual({ version: '1' })
  expect(mismatchOf(anyKind, { ...plain, capabilities: ['gpu'] })?.details).toEqual({ missing: ['gpu'] })
})

test('a mismatch names the kind first, then the version, then the missing capabilities', () => {
  const needed = { kind: 'k', version: '2', capabilities: ['eu', 'gpu', 'large'] }
  const served = { kinds: ['j'], versions: ['1'], capabilities: ['gpu'] }
  expect(mismatchOf(served, needed)?.details).toEqual({ kind: 'k' })
  expect(mismatchOf({ ...served, kinds: ['k'] }, needed)?.details).toEqual({ version: '2' })
  expect(mismatchOf({ ...served, kinds: null, versions: ['2'] }, needed)?.details).toEqual({ missing: ['eu', 'large'] })
  expect(mismatchOf({ kinds: null, versions: ['2'], capabilities: needed.capabilities }, needed)).toBeNull()
})
