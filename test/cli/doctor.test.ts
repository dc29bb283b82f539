import { expect, inject, test } from 'vitest'
import { bare } from '../../src/cli/ids.ts'
import { factory } from '../support/factory.ts'
import { typed, typing } from './typed.ts'
import * as stored from '../support/stored.ts'

test('doctor reports trouble, ends with 1, and repairs it with --repair', async () => {
  const cli = await typing()
  const id = await factory(cli.sql).waiting()
  await stored.ready.remove(cli.sql)
  const found = await cli.typeWith({ columns: 100 }, 'doctor')
  expect(found.code).toBe(1)
  expect(found.out).toMatch(/✗ stranded +Stranded executions \(not ready, delayed, leased or suspended\): 1\./)
  expect(found.out).toContain(bare(id))
  expect(found.out).toContain('found a problem.')
  const piped = await cli.type('doctor')
  expect(piped.out).toMatch(/^fine\tversion\t/)
  expect(piped.out).toMatch(/\ntrouble\tstranded\t/)

  const mended = await cli.type('doctor', '--repair', '--json')
  expect(JSON.parse(mended.out)).toMatchObject({
    repairs: expect.arrayContaining([
      { kind: 'requeued', sentence: `${id} was stranded and was returned to its queue` },
    ]),
    findings: expect.arrayContaining([expect.objectContaining({ check: 'stranded', verdict: 'fine' })]),
    before: expect.arrayContaining([expect.objectContaining({ check: 'stranded', verdict: 'trouble' })]),
  })
})

test('doctor --deep checks every invariant', async () => {
  const { type } = await typing()
  const { code, out } = await type('doctor', '--deep')
  expect(out).toContain('fine\tinvariant flow-counters\t')
  expect(code).toBe(0)
})

test.each([
  [['doctor', '--timeout', 'soon'], 2],
  [['doctor', '--timeout', '0'], 2],
])('%j is refused', async (argv, code) => {
  const { type } = await typing()
  expect((await type(...argv)).code).toBe(code)
})

test.runIf(inject('backend') === 'postgres')('a database that cannot be reached is a finding, too', async () => {
  const { code, out } = await typed(['doctor', '--url', 'postgres://nobody@127.0.0.1:1/none', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    isHealthy: false,
    findings: [{ check: 'connection', verdict: 'trouble', sentence: expect.stringContaining('ECONNREFUSED') }],
  })
  expect((await typed(['doctor', '--url', 'mysql://x'])).code).toBe(2)
})
