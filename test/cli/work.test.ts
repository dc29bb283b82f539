import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Execution } from '../../src/engine/execution/snapshot.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { claimed } from './claimed.ts'
import { interruptible, typing, type Typing } from './typed.ts'

async function submitted(cli: Typing, ...argv: string[]): Promise<ExecutionId> {
  const { executionId } = await cli.json<{ executionId: ExecutionId }>('submit', ...argv)
  return executionId
}

test('submit prints the id alone into a pipe, and accepts what was asked for', async () => {
  const cli = await typing()
  const words = `submit greet {"name":"ada"} --lane mail --priority 7 --tag a=b --tag c=d --key once --attempts 3
    --task-version v2 --capability gpu --delay 1h`
  const { code, out } = await cli.type(...words.split(/\s+/))
  expect(code).toBe(0)
  const found = await cli.engine.executions.describe(out.trim() as ExecutionId)
  expect(found).toMatchObject({
    kind: 'greet',
    lane: 'mail',
    priority: 7,
    tags: { a: 'b', c: 'd' },
    idempotencyKey: 'once',
    version: 'v2',
    requiredCapabilities: ['gpu'],
    policy: { retry: { attempts: 3 } },
    publicState: 'delayed',
    creator: expect.stringMatching(/^cli:/),
  })
})

test('the input comes as it is typed, from standard input or from a file', async () => {
  const cli = await typing()
  const path = join(await makeFolder('flowfabric-cli-', { inMemory: true }), 'input.json')
  await writeFile(path, '{"from":"file"}')
  await cli.type('submit', 'k', '{"from":"argument"}')
  await cli.typeWith({ stdin: '{"from":"stdin"}' }, 'submit', 'k', '-')
  await cli.type('submit', 'k', `@${path}`)
  await cli.type('submit', 'k')
  const { claims } = await cli.engine.executions.claim({
    workerId: 'w',
    workerInstanceId: 'w',
    lanes: ['default'],
    max: 10,
  })
  const inputs = claims.map(({ payload }) => (payload === null ? null : JSON.parse(Buffer.from(payload).toString())))
  expect(inputs).toEqual([{ from: 'argument' }, { from: 'stdin' }, { from: 'file' }, null])
})

test('the same key twice is the same execution, and a screen says so', async () => {
  const cli = await typing()
  const first = await cli.typeWith({ columns: 100 }, 'submit', 'k', '1', '--key', 'x')
  const second = await cli.typeWith({ columns: 100 }, 'submit', 'k', '1', '--key', 'x')
  expect(first.out).toContain(' is waiting')
  expect(second.out).toContain(' was submitted before, and is waiting')
  const other = await cli.type('submit', 'k', '2', '--key', 'x')
  expect(other.code).toBe(1)
})

test('submit --wait prints the result, and ends with 1 when there is none', async () => {
  const cli = await typing()
  const double = task('double', (_, value: number) => value * 2)
  const fails = task('fails', { retry: { attempts: 1 } }, () => {
    throw new Error('no \u001b[31mred')
  })
  const worker = new Worker({ tasks: [double, fails], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  await worker.start()
  try {
    expect(await cli.type('submit', 'double', '21', '--wait')).toEqual({ code: 0, out: '42\n', err: '' })
    expect(await cli.json('submit', 'double', '4', '--wait', '1m')).toMatchObject({ kind: 'completed', result: 8 })
    const failed = await cli.type('submit', 'fails', '--wait')
    expect(failed).toMatchObject({ code: 1, out: '' })
    // What others wrote does not colour the terminal.
    expect(failed.err).toMatch(/failed: .*no \\u\{1b\}\[31mred/)
    const asJson = await cli.type('submit', 'fails', '--wait', '--json')
    expect(JSON.parse(asJson.out)).toMatchObject({ kind: 'failed', error: { message: 'no \u001b[31mred' } })
  } finally {
    await worker.stop()
  }
})

test('submit --wait gives up in time, and says that it goes on', async () => {
  const cli = await typing()
  const { code, out, err } = await cli.type('submit', 'nobody', '--wait', '20ms')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/is waiting and goes on; flowfabric show/)
})

test('submit --watch tells what happens, then the result', async () => {
  const cli = await typing()
  const hello = task('hello', async (ctx) => ctx.step('say', () => 'hello'))
  const worker = new Worker({ tasks: [hello], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  await worker.start()
  try {
    const { code, out } = await cli.typeWith({ signal: interruptible().signal }, 'submit', 'hello', '--watch')
    expect(code).toBe(0)
    const lines = out.trim().split('\n')
    expect(lines.map((line) => line.split('\t')[1])).toEqual(['acquired', 'ended', undefined])
    expect(lines.at(-1)).toBe('"hello"')
  } finally {
    await worker.stop()
  }
})

test('list gives pages, filters, all of them, and lines for a program', async () => {
  const cli = await typing()
  for (const kind of ['a', 'b', 'c']) await cli.type('submit', kind, '--tag', `letter=${kind}`)
  type Page = { executions: Execution[]; nextCursor: string | null }
  const first = await cli.json<Page>('list', '--limit', '2')
  expect(first.executions.map((each) => each.kind)).toEqual(['c', 'b'])
  const second = await cli.json<Page>('list', '--limit', '2', '--cursor', first.nextCursor!)
  expect(second).toMatchObject({ executions: [{ kind: 'a' }], nextCursor: null })
  expect((await cli.json<Page>('list', '--tag', 'letter=b')).executions).toHaveLength(1)
  expect((await cli.json<Page>('list', '--state', 'failed')).executions).toEqual([])

  const { out } = await cli.type('list', '--all', '--limit', '1', '--json')
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  ).toEqual(['c', 'b', 'a'])
  const piped = (await cli.type('list', '--all')).out
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  expect(piped.map(([, state, kind]) => [state, kind])).toEqual([
    ['waiting', 'c'],
    ['waiting', 'b'],
    ['waiting', 'a'],
  ])
  const screen = await cli.typeWith({ columns: 100 }, 'list', '--limit', '1')
  expect(screen.out).toMatch(/^ID +STATE +KIND +LANE +CREATED +WHY\n/)
  expect(screen.err).toContain('There are more: --all, or --cursor ')
  expect((await cli.typeWith({ columns: 100 }, 'list', '--kind', 'z')).err).toBe('No execution is like that.\n')
})

test('a list on a narrow screen keeps its ids whole and drops what does not fit', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const { out } = await cli.typeWith({ columns: 60 }, 'list')
  expect(out).toContain(id)
  expect(out).not.toContain('WHY')
  expect(out.split('\n').every((line) => line.length <= 60)).toBe(true)
})

test('a namespace is a boundary at the command line, too', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k', '--namespace', 'shop')
  expect((await cli.engine.executions.describe(id))?.namespace).toBe('shop')
  expect((await cli.type('show', id, '--namespace', 'other')).code).toBe(1)
  expect((await cli.type('show', id, '--namespace', 'shop')).code).toBe(0)
})

test('show tells why, what it did and what happened, on a screen and as JSON', async () => {
  const cli = await typing()
  const onboard = task('onboard', async (ctx, { email }: { email: string }) => {
    await ctx.step('create account', () => `account of ${email}`)
    return ctx.waitFor('approval')
  })
  const worker = new Worker({ tasks: [onboard], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const id = await submitted(cli, 'onboard', '{"email":"ada@example.com"}')
  await worker.tick()
  await worker.stop()

  const { out } = await cli.typeWith({ columns: 120 }, 'show', id)
  expect(out).toMatch(/^onboard {2}suspended {2}\{fp:/)
  expect(out).toContain('waits for one of (a signal at waitpoint')
  expect(out).toContain('an operator: flowfabric resume')
  expect(out).toMatch(/Waitpoints\nKEY +WAITPOINT/)
  expect(out).toMatch(/create account +step +succeeded +1 .*"account of ada@example\.com"/)
  expect(out).toMatch(/Timeline\n/)
  expect(out.split('\n').every((line) => line.length <= 120)).toBe(true)

  const whole = await cli.json<Record<string, unknown>>('show', id)
  expect(whole).toMatchObject({
    execution: { executionId: id, publicState: 'suspended' },
    explanation: { sentence: expect.stringContaining('waits for') },
    result: null,
    waitpoints: [{ key: 'approval' }],
    steps: [{ name: 'create account', result: 'account of ada@example.com' }],
    attempts: [{ attemptIndex: 0 }],
  })
  expect((whole['events'] as unknown[]).length).toBeGreaterThan(1)
})

test('approve answers by the execution or by the waitpoint, once, and may refuse', async () => {
  const cli = await typing()
  const decide = task('decide', async (ctx) => ctx.waitFor('approval'))
  const worker = new Worker({ tasks: [decide], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const [yes, no] = [await submitted(cli, 'decide'), await submitted(cli, 'decide')]
  while ((await worker.tick()) > 0);

  const approved = await cli.json<{ effect: string }>('approve', yes, '--comment', 'fine', '--actor', 'grace')
  expect(approved).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  const { waitpoints } = await cli.engine.waitpoints.list(no)
  const refused = await cli.type('approve', waitpoints[0]!.waitpointId, '--refuse')
  expect(refused.out).toBe('Accepted: it was what the execution waited for, which goes on.\n')
  while ((await worker.tick()) > 0);
  await worker.stop()

  const result = async (id: string): Promise<unknown> => (await cli.json<{ result: unknown }>('show', id)).result
  expect(await result(yes)).toEqual({ approved: true, by: 'grace', comment: 'fine' })
  expect(await result(no)).toMatchObject({ approved: false })
  const late = await cli.type('approve', yes)
  expect(late.code).toBe(1)
  expect(late.err).toContain('has no open waitpoint')
})

test('approve asks which, where an execution has several waitpoints', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const fence = await claimed(cli.engine, id)
  for (const key of ['legal', 'finance']) await cli.engine.waitpoints.create({ ...fence, key })
  const { code, err } = await cli.type('approve', id)
  expect(code).toBe(2)
  expect(err).toMatch(/has the waitpoints "(legal|finance)", "(legal|finance)"; name one of them with --waitpoint/)
  expect((await cli.type('approve', id, '--waitpoint', 'legal')).out).toContain('it is kept until')
})

test('signal speaks by name, or by the token of a waitpoint', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  expect((await cli.type('signal', id, 'hello', '{"a":1}')).out).toBe(
    'Accepted: it is kept until the execution waits for it.\n',
  )
  const { waitpointId, token } = await cli.engine.waitpoints.create({ ...(await claimed(cli.engine, id)), key: 'w' })
  const forged = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
  const wrong = await cli.type('signal', waitpointId, 'paid', '--token', forged)
  expect(wrong.code).toBe(1)
  expect(await cli.json('signal', waitpointId, 'paid', '--token', token, '--key', 'once')).toMatchObject({
    kind: 'accepted',
  })
  expect(await cli.json('signal', waitpointId, 'paid', '--token', token, '--key', 'once')).toMatchObject({
    kind: 'duplicate',
  })
})

test('cancel, replay and resume take many ids, also from a pipe, and a refusal holds up none', async () => {
  const cli = await typing()
  const ids = [await submitted(cli, 'k'), await submitted(cli, 'k'), await submitted(cli, 'k')]
  const gone = '{fp:1}:0190b6d2-0000-7000-8000-000000000000'
  const cancelled = await cli.type('cancel', ids[0]!, gone, '--reason', 'enough')
  expect(cancelled.code).toBe(1)
  expect(cancelled.out).toBe(`${ids[0]}\tcancelled, was waiting\n`)
  expect(cancelled.err).toContain(`refused: execution ${gone} does not exist`)

  const listed = (await cli.type('list', '--state', 'waiting', '--all')).out
  const rest = await cli.typeWith({ stdin: listed }, 'cancel', '-', '--json')
  expect(rest.code).toBe(0)
  expect(rest.out.trim().split('\n')).toHaveLength(2)
  expect((await cli.engine.executions.describe(ids[0]!))?.cancelledBy).toMatch(/^cli:/)

  const replayed = await cli.type('replay', ...ids)
  expect(replayed.out.match(/replayed as generation 1, was cancelled/g)).toHaveLength(3)
  const resumed = await cli.type('resume', ids[0]!)
  expect(resumed.code).toBe(1)
  expect(resumed.err).toContain('refused: ')
})

test('watch tells of one execution until it has ended', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const watched = cli.typeWith({ signal: interruptible().signal }, 'watch', id, '--json')
  const fence = await claimed(cli.engine, id)
  await cli.engine.executions.complete(fence)
  const { code, out } = await watched
  expect(code).toBe(0)
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  ).toEqual(['acquired', 'ended'])
  const again = await cli.typeWith({ signal: interruptible().signal }, 'watch', id)
  expect(
    again.out
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[1]),
  ).toEqual(['acquired', 'ended'])
})

test('watch tells of all until it is interrupted, and then ends with 0', async () => {
  const cli = await typing()
  const controller = interruptible()
  const onWritten = (text: string): void => {
    if (text.includes('Waiting for events')) hasBegun()
    if (text.includes('ended')) controller.abort()
  }
  let hasBegun = (): void => {}
  const begun = new Promise<void>((resolve) => (hasBegun = resolve))
  const watched = cli.typeWith({ columns: 120, signal: controller.signal, onWritten }, 'watch', '--kind', 'ended')
  await begun
  await cli.type('cancel', await submitted(cli, 'k'))
  const { code, out } = await watched
  expect(code).toBe(0)
  expect(out).toMatch(/^[\d:.]{12} {2}\{fp:\d+\}:\S+ +ended +cancelled by cli:/)
})
