// The command submit: its arguments, and its output about the execution and its end.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { interruptible, typing } from './typed.ts'

test('submit prints only the id into a pipe, and accepts every option', async () => {
  const cli = await typing()
  const words = `submit greet {"name":"ada"} --lane mail --priority 7 --tag a=b --tag c=d --key once --attempts 3
    --task-version v2 --capability gpu --delay 1h`
  const { code, out } = await cli.type(...words.split(/\s+/))
  expect(code).toBe(0)
  const found = await cli.engine.executions.describe(out.trim())
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

test('the input is an argument, standard input or a file', async () => {
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

test('the same key twice is the same execution, and a screen reports it', async () => {
  const cli = await typing()
  const first = await cli.typeWith({ columns: 100 }, 'submit', 'k', '1', '--key', 'x')
  const second = await cli.typeWith({ columns: 100 }, 'submit', 'k', '1', '--key', 'x')
  expect(first.out).toContain(' is waiting')
  expect(second.out).toContain(' was already submitted, and is waiting')
  const other = await cli.type('submit', 'k', '2', '--key', 'x')
  expect(other.code).toBe(1)
})

test('submit of a kind that no worker serves is accepted with a warning that names the nearest kind', async () => {
  const cli = await typing()
  const fulfil = task('fulfil', { retry: { attempts: 4 }, lane: 'mail' }, () => 'done')
  const worker = new Worker({ tasks: [fulfil], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  await worker.start()
  try {
    const misspelt = await cli.type('submit', 'fulfl')
    expect(misspelt).toMatchObject({ code: 0, err: "no worker knows 'fulfl'; did you mean fulfil?\n" })
    expect((await cli.engine.executions.describe(misspelt.out.trim()))?.policy).toBeNull()
    expect(await cli.type('submit', 'else')).toMatchObject({ code: 0, err: "no worker knows 'else'\n" })
    const screen = await cli.typeWith({ columns: 100 }, 'submit', 'fulfil', '--attempts', '2')
    expect(screen).toMatchObject({ code: 0, err: '' })
    expect(screen.out).toContain('2 attempts (as given), lane mail (from the registered task)')
    expect(await cli.json('submit', 'fulfil')).toMatchObject({
      applied: { attempts: 4, attemptsFrom: 'registered', lane: 'mail', laneFrom: 'registered', isRegistered: true },
    })
  } finally {
    await worker.stop()
  }
  // The task stays registered, so its worker may return.
  expect(await cli.type('submit', 'fulfil')).toMatchObject({ code: 0, err: '' })
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
    // Text of others does not colour the terminal.
    expect(failed.err).toMatch(/failed: .*no \\u\{1b\}\[31mred/)
    const asJson = await cli.type('submit', 'fails', '--wait', '--json')
    expect(JSON.parse(asJson.out)).toMatchObject({ kind: 'failed', error: { message: 'no \u001b[31mred' } })
  } finally {
    await worker.stop()
  }
})

test('submit --wait gives up at its timeout, and says that the execution continues', async () => {
  const cli = await typing()
  const { code, out, err } = await cli.type('submit', 'nobody', '--wait', '20ms')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/has not ended, it is waiting; `flowfabric show/)
})

test('submit --watch prints the events, then the result', async () => {
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
