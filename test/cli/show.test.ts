import { expect, test } from 'vitest'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { typing, type Typing } from './typed.ts'

async function worked(cli: Typing, ...tasks: readonly unknown[]): Promise<void> {
  const options = { tasks: tasks as Task[], handleSignals: false, logger: false } as const
  const worker = new Worker(options, { engine: cli.engine, codec: jsonCodec })
  while ((await worker.tick()) > 0);
  await worker.stop()
}

async function submitted(cli: Typing, ...argv: string[]): Promise<string> {
  return (await cli.json<{ executionId: string }>('submit', ...argv)).executionId
}

test('show prints input and result on a line when they fit', async () => {
  const cli = await typing()
  const pay = task('pay', async (_, { amount }: { amount: number }) => ({ paid: amount }))
  const id = await submitted(cli, 'pay', '{"amount":42}')
  await worked(cli, pay)
  const { out } = await cli.typeWith({ columns: 100 }, 'show', id)
  expect(out).toMatch(/^input +\{"amount":42\}$/m)
  expect(out).toMatch(/^result +\{"paid":42\}$/m)
  expect((await cli.type('show', id)).out).toMatch(/^input\t\{"amount":42\}$/m)
  expect(await cli.json('show', id)).toMatchObject({ input: { amount: 42 }, result: { paid: 42 } })
})

test('a long input is shortened on a screen, with a hint, and whole in a pipe and in JSON', async () => {
  const cli = await typing()
  const input = { lines: Array.from({ length: 40 }, (_, index) => `line ${index}`), note: 'x'.repeat(500) }
  const id = await submitted(cli, 'k', JSON.stringify(input))
  const { out } = await cli.typeWith({ columns: 80 }, 'show', id)
  expect(out).toContain('\nInput\n{\n  "lines": [\n    "line 0",\n')
  expect(out).toContain('"line 17"')
  expect(out).not.toContain('"line 18"')
  const bytes = JSON.stringify(input).length
  expect(out).toContain(`\n… 25 more lines; --json prints all ${bytes} bytes\n`)
  expect(out.split('\n').every((line) => line.length <= 80)).toBe(true)
  expect((await cli.type('show', id)).out).toContain(`input\t${JSON.stringify(input)}\n`)
  expect(await cli.json('show', id)).toMatchObject({ input })
})

test('an input that is no JSON is shown by its encoding', async () => {
  const cli = await typing()
  const payload = new Uint8Array([1, 2, 3])
  const { executionId } = await cli.engine.executions.create({ kind: 'k', payload, payloadEncoding: 'secret' })
  expect((await cli.type('show', executionId)).out).toContain('input\t3 bytes (secret)\n')
  expect(await cli.json('show', executionId)).toMatchObject({ input: { encoding: 'secret', base64: 'AQID' } })
})

test('a failure is shown with its message, the frames of the user and its causes', async () => {
  const cli = await typing()
  class BankError extends Error {
    override name = 'BankError'
  }
  const pay = task('pay', { retry: { attempts: 1 } }, async (ctx) =>
    ctx.step('charge card', () => {
      const cause = new TypeError('no route to host')
      cause.stack = 'TypeError: no route to host\n    at dial (/app/net.ts:7:1)\n    at node:net:1:1'
      const error = new BankError('the bank said no', { cause })
      error.stack =
        'BankError: the bank said no\n    at pay (/app/pay.ts:3:9)\n    at run (/x/node_modules/flowfabric/dist/worker/run.js:1:1)'
      throw error
    }),
  )
  const id = await submitted(cli, 'pay')
  await worked(cli, pay)
  const { out } = await cli.typeWith({ columns: 120 }, 'show', id)
  expect(out).toMatch(/\nError\n\w+: .*the bank said no/)
  expect(out).toContain('\n    at pay (/app/pay.ts:3:9)\n')
  expect(out).toContain('\ncaused by TypeError: no route to host\n    at dial (/app/net.ts:7:1)\n')
  expect(out).not.toContain('node_modules/flowfabric')
  expect(out).not.toContain('node:net')
  expect(out).toMatch(/charge card +step +failed +1 .*BankError: the bank said no: no route to host/)
  expect(out).not.toContain('\\n')
  const { attempts } = await cli.json<{ attempts: { error: object }[] }>('show', id)
  expect(attempts[0]!.error).toMatchObject({ cause: { name: 'BankError', cause: { name: 'TypeError' } } })
})

test('a sleep that is over is shown as succeeded, and steps are counted without gaps', async () => {
  const cli = await typing()
  const nap = task('nap', async (ctx) => {
    await ctx.step('a', () => 1)
    await ctx.sleep('rest', '10m')
    await ctx.step('b', () => 2)
    await ctx.sleep('rest again', '10m')
    return 3
  })
  const id = await submitted(cli, 'nap')
  await worked(cli, nap)
  expect((await cli.typeWith({ columns: 120 }, 'show', id)).out).toMatch(/2 +rest +sleep +pending/)
  await cli.clock.advance('11m')
  await delayedPromoter.runOnce(cli.sql)
  await worked(cli, nap)
  const { out } = await cli.typeWith({ columns: 120 }, 'show', id)
  const steps = out.slice(out.indexOf('\nSteps\n'), out.indexOf('\nAttempts\n')).trim().split('\n').slice(2)
  expect(steps.map((line) => line.trim().split(/ {2,}/).slice(0, 4))).toEqual([
    ['1', 'a', 'step', 'succeeded'],
    ['2', 'rest', 'sleep', 'succeeded'],
    ['3', 'b', 'step', 'succeeded'],
    ['4', 'rest again', 'sleep', 'pending'],
  ])
})
