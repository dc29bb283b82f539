import { expect, test } from 'vitest'
import type { FlowId } from '../../src/model/id.ts'
import { bare } from '../../src/cli/ids.ts'
import { submitFlow } from '../../src/connect/flow.ts'
import type { BuildFlow } from '../../src/connect/flow-builder.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { typing, type Typing } from './typed.ts'

async function flow(cli: Typing, build: BuildFlow): Promise<FlowId> {
  return (await submitFlow(cli.engine, jsonCodec, build, {})).flowId
}

const release: BuildFlow = (f) => {
  const build = f.add('build')
  const unit = f.after(build, f.add('test', {}, { name: 'unit' }))
  const browser = f.after(build, f.add('test', {}, { name: 'browser' }))
  const deploy = f.after([unit, browser, build], f.add('deploy'))
  f.after({ on: deploy, kind: 'on_failure' }, f.add('alert'))
}

test('flow show draws the graph with the state of each member', async () => {
  const cli = await typing()
  const id = await flow(cli, release)
  const { out } = await cli.typeWith({ columns: 140 }, 'flow', 'show', id)
  const lines = out.split('\n').map((line) => line.slice(0, 45).trimEnd())
  expect(lines.slice(lines.findIndex((line) => line.includes('MEMBER')))).toEqual([
    '           MEMBER   STATE             WAITS F',
    '○          build    waiting',
    '├─◐─┐      unit     waiting_children',
    '├─◐─┤      browser  waiting_children',
    '└───┴─◐    deploy   waiting_children',
    '      └─◐  alert    waiting_children  deploy',
    '',
  ])
  expect(out).toContain('deploy to fail')
  const plain = await cli.typeWith({ columns: 140, env: { LANG: 'C' } }, 'flow', 'show', id)
  expect(plain.out).toContain('+---+-=')
  expect(plain.out).not.toMatch(/[^\n -~]/)
})

test('a flow that is too large is summarized, and drawn on request', async () => {
  const cli = await typing()
  const id = await flow(cli, (f) => {
    const first = f.add('split')
    const parts = Array.from({ length: 70 }, (_, index) => f.after(first, f.add('part', {}, { name: `part-${index}` })))
    f.after(parts, f.add('join'))
  })
  const summed = await cli.typeWith({ columns: 100 }, 'flow', 'show', id)
  expect(summed.out).toMatch(/LAYER +MEMBERS +STATES/)
  expect(summed.out).toMatch(/2 +70 +70 waiting_children/)
  expect(summed.out).not.toContain('├')
  expect((await cli.typeWith({ columns: 100 }, 'flow', 'show', id, '--full')).out.match(/├─/g)!.length).toBeGreaterThan(
    60,
  )
  const whole = await cli.json<{ members: unknown[]; edges: unknown[]; flow: object }>('flow', 'show', id)
  expect([whole.members.length, whole.edges.length]).toEqual([72, 140])
})

test('a chain that is wider than the screen is written without lines', async () => {
  const cli = await typing()
  const id = await flow(cli, (f) => {
    let before = f.add('step', {}, { name: 'step-0' })
    for (let at = 1; at < 40; at += 1) before = f.after(before, f.add('step', {}, { name: `step-${at}` }))
  })
  const { out } = await cli.typeWith({ columns: 80 }, 'flow', 'show', id)
  expect(out).not.toContain('└')
  expect(out).toMatch(/step-39 +waiting_children +step-38/)
})

test('flows are listed and cancelled', async () => {
  const cli = await typing()
  const id = await flow(cli, release)
  expect(await cli.json('flow', 'list', '--state', 'open')).toMatchObject({ flows: [{ flowId: id, memberCount: 5 }] })
  expect((await cli.type('flow', 'list')).out).toMatch(/^[\da-f-]{36}\topen\t\S+\t0\/5\t/)
  const cancelled = await cli.type('flow', 'cancel', id, '--reason', 'wrong branch', '--wait', '10s')
  expect(cancelled).toEqual({ code: 0, out: `${bare(id)} cancelled, with 5 of its members\n`, err: '' })
  expect((await cli.type('flow', 'cancel', id)).out).toBe(`${bare(id)} was already cancelled\n`)
  expect((await cli.typeWith({ columns: 120 }, 'flow', 'show', id)).out).toContain('wrong branch')
})

test('a schedule is put, shown, listed, triggered, paused, resumed and deleted', async () => {
  const cli = await typing()
  const put = [
    'schedule',
    'put',
    'nightly',
    'report',
    '{"pages":7}',
    '--cron',
    '30 2 * * *',
    '--time-zone',
    'Europe/Berlin',
  ]
  expect(await cli.json(...put)).toMatchObject({ kind: 'created', scheduleId: 'nightly' })
  expect(await cli.json(...put)).toMatchObject({ kind: 'unchanged' })
  expect(await cli.json('schedule', 'show', 'nightly')).toMatchObject({
    scheduleId: 'nightly',
    cron: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    kind: 'report',
    input: { pages: 7 },
  })
  expect((await cli.type('schedule', 'show', 'nightly')).out).toContain('input\t{"pages":7}')
  expect((await cli.type('schedule', 'list')).out).toMatch(
    /^nightly\tdefault\tactive\t30 2 \* \* \* \(Europe\/Berlin\)\treport/,
  )
  expect((await cli.type('schedule', 'trigger', 'nightly')).out).toMatch(/^nightly fired: [\da-f-]{36}$/m)
  expect((await cli.type('schedule', 'trigger', 'nightly')).out).toMatch(/^nightly skipped: [\da-f-]{36} has not ended/)
  expect((await cli.type('schedule', 'pause', 'nightly')).out).toBe('nightly paused\n')
  expect((await cli.type('schedule', 'pause', 'nightly')).out).toBe('nightly was already paused\n')
  expect((await cli.type('schedule', 'resume', 'nightly')).out).toMatch(/^nightly resumed; next at /)
  expect((await cli.type('schedule', 'delete', 'nightly')).out).toBe('nightly deleted\n')
  expect(await cli.json('schedule', 'list')).toEqual({ schedules: [], nextCursor: null })
  const every = await cli.json('schedule', 'put', 'pulse', 'ping', '--every', '30s', '--overlap', 'allow')
  expect(every).toMatchObject({ kind: 'created' })
})

test('workers, lanes and signing keys are listed; a key is rotated', async () => {
  const cli = await typing()
  await cli.type('submit', 'k', '--lane', 'mail')
  expect((await cli.type('lane', 'list')).out).toMatch(/^mail\tdefault\tactive\t1\t0\t0\t0\t\d+m?s\t/)
  expect((await cli.typeWith({ columns: 100 }, 'worker', 'list')).err).toContain('No workers.')
  await cli.engine.workers.register({ workerId: 'mailer', workerInstanceId: 'mailer-1', lanes: ['mail'] })
  expect((await cli.type('worker', 'list')).out).toMatch(/^mailer-1\tmailer\tmail\tany\tall\t/)
  expect(await cli.json('worker', 'list')).toMatchObject({ workers: [{ workerInstanceId: 'mailer-1' }] })

  expect((await cli.type('signing-key', 'rotate')).out).toMatch(/^Key \S+ now signs tokens\.\n$/)
  const second = await cli.json<{ kid: string; previousKid: string }>('signing-key', 'rotate', '--grace', '2h')
  const { signingKeys } = await cli.json<{ signingKeys: { kid: string; isActive: boolean }[] }>('signing-key', 'list')
  expect(signingKeys.map(({ kid, isActive }) => [kid, isActive])).toEqual([
    [second.kid, true],
    [second.previousKid, false],
  ])
  const secret = 'ab'.repeat(32)
  const named = await cli.typeWith(
    { env: { FLOWFABRIC_SIGNING_SECRET: secret } },
    'signing-key',
    'rotate',
    '--kid',
    'k3',
  )
  expect(named.out).toContain('Key k3 now signs tokens.')
  expect(named.out + (await cli.type('signing-key', 'list', '--json')).out).not.toContain(secret)
})

test('show prints the line breaks of a reason as \\n, so its text cannot forge a line', async () => {
  const cli = await typing()
  const { executionId } = await cli.engine.executions.create({ kind: 'mail' })
  await cli.engine.executions.cancel({ executionId, reason: 'late\nerror: run this' })
  for (const options of [{}, { columns: 200 }]) {
    const { out } = await cli.typeWith(options, 'show', executionId)
    expect(out).toContain(String.raw`late\nerror: run this`)
    expect(out.split('\n').filter((line) => line.startsWith('error:'))).toEqual([])
  }
})
