import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { codeVersion } from '../../src/model/version.ts'

test('the version in the code is the one of the package', async () => {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  expect(codeVersion).toBe((JSON.parse(text) as { version: string }).version)
})
