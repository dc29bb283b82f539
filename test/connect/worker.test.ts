import { expect, inject, onTestFinished, test } from 'vitest'
import { connect, EngineError, task, type FlowFabric } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { createDatabase } from '../support/database.ts'
import { patience } from '../support/patience.ts'

const backends = ['postgres', 'embedded'] as const

async function open(backend: (typeof backends)[number]): Promise<FlowFabric> {
  if (backend === 'embedded') return connect('memory:')
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  onTestFinished(() => database.drop())
  return connect(database.url)
}

const greet = task('greet', async (ctx, { name }: { name: string }) => {
  const hello = await ctx.step('hello', () => `hello ${name}`)
  await ctx.sleep('rest', 50)
  const end = await ctx.waitFor('end', { timeout: '1m' })
  return [hello, end].join('')
})

test.each(backends)(
  '%s: submitted, run by a worker with its supervisor, and returned by a handle',
  async (backend) => {
    await using ff = await open(backend)
    const worker = ff.worker({ tasks: [greet], concurrency: 5 })
    await worker.start()
    await worker.start()
    const run = await ff.submit(greet, { name: 'Ada' }, { tags: { a: 'b' } })
    const others = await ff.submitMany(greet, [{ input: { name: 'Bo' } }, { input: { name: 'Cy' } }])
    for (const other of others) if (!EngineError.is(other)) await other.signal('end', '?')
    await run.signal('end', '!')
    expect(await run.result({ timeout: patience(60_000) })).toBe('hello Ada!')
    expect(
      await Promise.all(others.map(async (other) => (EngineError.is(other) ? other.code : other.result()))),
    ).toEqual(['hello Bo?', 'hello Cy?'])
    expect(await ff.handle(run.id, greet).result()).toBe('hello Ada!')
    expect(await ff.handle(run.id).state()).toBe('completed')
  },
  patience(120_000),
)

test('a close stops its workers first, and gives back the runs that do not end', async () => {
  const ff = await open('postgres')
  const begun: string[] = []
  const hang = task('hang', async (ctx) => {
    begun.push(ctx.executionId)
    await new Promise((resolve) => ctx.abort.addEventListener('abort', resolve))
  })
  const worker = ff.worker({ tasks: [hang], grace: 50, duties: false })
  await worker.start()
  await ff.submit(hang)
  await expect.poll(() => begun.length).toBe(1)
  await ff.close()
  expect(worker.running).toBe(0)
  await refusal('engine_closed', ff.submit(hang))
  expect(() => ff.worker({ tasks: [hang] })).toThrow('this FlowFabric is closed')
})

test('a worker whose supervisor cannot be created has not begun when its start is refused', async () => {
  await using ff = await open('postgres')
  const worker = ff.worker({ tasks: [greet], duties: { intervals: { nothing: 1 } } })
  await refusal('invalid_input', worker.start())
  // A worker that had begun would log lines.
  await refusal('invalid_input', worker.start())
})

test('the options of a worker are checked before anything runs', async () => {
  await using ff = await open('postgres')
  expect(() => ff.worker({ tasks: [greet], duties: 'no' as never })).toThrow('duties is "no"')
  expect(() => ff.worker({ tasks: [greet], logger: {} as never })).toThrow('logger is without debug')
  expect(() => ff.worker({ tasks: [greet], lane: 'x' } as never)).toThrow('did you mean lanes?')
  expect(() => ff.worker({ tasks: [greet], duty: false } as never)).toThrow('did you mean duties?')
  expect(() => ff.worker(undefined as never)).toThrow('the request to worker is undefined; it must be an object')
})
