import { expect, test } from 'vitest'
import type { ExecutionId } from '../../src/model/id.ts'
import { typing } from './typed.ts'

const uuids = [
  '0190a3c4-1000-7000-8000-000000000001',
  '0190a3c4-1000-7000-8000-000000000002',
  '0190a3c5-2000-7000-8000-000000000003',
] as const

async function three() {
  const cli = await typing()
  const executions = uuids.map((uuid) => ({ kind: 'order', executionId: `{fp:7}:${uuid}` as ExecutionId }))
  await cli.engine.executions.createMany(executions)
  return cli
}

test('text output has bare uuids, and JSON has full ids', async () => {
  const cli = await three()
  const piped = (await cli.type('list', '--id', '0190a3c4')).out.trim().split('\n')
  expect(piped.map((line) => line.split('\t')[0])).toEqual([uuids[0], uuids[1]])
  const { executions } = await cli.json<{ executions: { executionId: string }[] }>('list', '--id', uuids[2])
  expect(executions.map(({ executionId }) => executionId)).toEqual([`{fp:7}:${uuids[2]}`])
  expect((await cli.type('submit', 'order')).out).toMatch(/^[\da-f-]{36}\n$/)
  const missing = await cli.type('show', '{fp:7}:0190b6d2-0000-7000-8000-000000000000')
  expect(missing.err).toContain('error: execution 0190b6d2-0000-7000-8000-000000000000 does not exist\n')
})

test.each([
  ['show', '0190a3c5'],
  ['show', '0190A3C5-2000'],
  ['show', uuids[2]],
  ['show', `{fp:7}:${uuids[2]}`],
])('%s %s finds the one execution that it names', async (...argv) => {
  const cli = await three()
  const { execution } = await cli.json<{ execution: { executionId: string } }>(...argv)
  expect(execution.executionId).toBe(`{fp:7}:${uuids[2]}`)
})

test('a prefix of several executions is refused with the candidates', async () => {
  const cli = await three()
  const { code, out, err } = await cli.type('show', '0190a3c4')
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^error: 0190a3c4 is the beginning of 2 execution ids; type more characters:\n/)
  for (const uuid of uuids.slice(0, 2))
    expect(err).toMatch(new RegExp(`^  ${uuid}  order  waiting  (now|.* ago)$`, 'm'))
  expect(err).not.toContain(uuids[2])
  const { error } = JSON.parse((await cli.type('show', '0190a3c4', '--json')).err)
  expect(error).toMatchObject({
    code: 'invalid_id',
    details: { candidates: uuids.slice(0, 2).map((id) => `{fp:7}:${id}`) },
  })
})

test('a prefix that is too short or has no execution is refused', async () => {
  const cli = await three()
  const short = await cli.type('show', '0190a3c')
  expect(short.code).toBe(2)
  expect(short.err).toContain('execution id is "0190a3c"; it must be at least the first 8 characters of the id')
  const none = await cli.type('show', '0190ffff')
  expect(none.code).toBe(1)
  expect(none.err).toContain('there is no execution whose id begins with 0190ffff\n')
  const foreign = await cli.type('show', '0190a3c5', '--namespace', 'other')
  expect(foreign.err).toContain('there is no execution whose id begins with 0190a3c5\n')
})

test('a command on several executions refuses an ambiguous prefix alone', async () => {
  const cli = await three()
  const { code, out, err } = await cli.type('cancel', '0190a3c4', '0190a3c5', uuids[2])
  expect({ code, out }).toEqual({ code: 1, out: `${uuids[2]}\tcancelled, was waiting\n` })
  expect(err).toMatch(/^refused: 0190a3c4 is the beginning of 2 execution ids; type more characters:\n {2}0190a3c4-/)
})

test('prefixes name the parent, the target of a signal and the flow', async () => {
  const cli = await three()
  const child = await cli.json<{ executionId: string }>('submit', 'child', '--parent', '0190a3c5')
  const { executions } = await cli.json<{ executions: { executionId: string }[] }>('list', '--parent', '0190a3c5')
  expect(executions).toMatchObject([{ executionId: child.executionId, parentId: `{fp:7}:${uuids[2]}` }])
  expect(await cli.json('signal', '0190a3c5-2', 'paid')).toMatchObject({ kind: 'accepted' })

  const members = [{ name: 'a', kind: 'a' }]
  const flowIds = [
    '{fp:7}:0190a3c4-1000-7000-8000-00000000000a',
    '{fp:7}:0190a3c4-2000-7000-8000-00000000000b',
  ] as const
  for (const flowId of flowIds) await cli.engine.flows.submitGraph({ flowId, kind: 'release', members })
  expect(await cli.json('flow', 'show', '0190a3c4-2')).toMatchObject({ flow: { flowId: flowIds[1] } })
  const cancelled = await cli.type('flow', 'cancel', '0190a3c4-2', '--wait', '10s')
  expect(cancelled.out).toMatch(/^0190a3c4-2000-7000-8000-00000000000b /)
  const ambiguous = await cli.type('flow', 'show', '0190a3c4')
  expect(ambiguous.err).toContain('0190a3c4 is the beginning of 2 flow ids')
  expect((await cli.type('flow', 'show', '0190ffff')).err).toContain('there is no flow whose id begins with 0190ffff')
})
