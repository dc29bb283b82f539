// Code that must not compile. The compiler checks this file with the rest, and a marked error that no longer occurs
// fails it.
import { expect, expectTypeOf, test } from 'vitest'
import type { MemberRef } from '../../src/connect/flow-builder.ts'
import type { Handle } from '../../src/connect/handle.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { Wait } from '../../src/worker/context.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { count, fields, length, text } from './schemas.ts'

declare const ff: FlowFabric

const plain = task('plain', async (ctx, { email }: { email: string }) => {
  const size = await ctx.step('size', () => email.length)
  await ctx.sleep('rest', '10m')
  return { size }
})
const checked = task(
  'checked',
  { input: length, output: count, signals: { answer: fields<{ ok: boolean }>(['ok']), note: text } },
  async (ctx, size) => {
    const { ok } = await ctx.waitFor('answer', { timeout: '2d' })
    const [note, other] = await ctx.all([ctx.waitFor('note'), ctx.step('other', () => 5)])
    expectTypeOf(ok).toEqualTypeOf<boolean>()
    expectTypeOf(note).toEqualTypeOf<string>()
    expectTypeOf(other).toEqualTypeOf<number>()
    return size
  },
)
const empty = task('empty', () => {})
const dated = task('dated', () => ({ at: new Date() }))

// Never called: its types are the test.
export async function typed(): Promise<void> {
  const run = await ff.submit(plain, { email: 'a@example.com' }, { priority: 5 })
  expectTypeOf(run).toEqualTypeOf<Handle<{ size: number }, Readonly<Record<string, unknown>>>>()
  expectTypeOf(await run.result()).toEqualTypeOf<{ size: number }>()
  // @ts-expect-error a wrong input
  await ff.submit(plain, { mail: 'a@example.com' })
  // @ts-expect-error no input
  await ff.submit(plain)
  // @ts-expect-error an option that is none
  await ff.submit(plain, { email: '' }, { prority: 5 })
  await ff.submit(empty)

  // A submit takes the schema's input type, and the handler receives the schema's output type.
  const other = await ff.submit(checked, 'four')
  expectTypeOf(await other.result()).toEqualTypeOf<number>()
  // @ts-expect-error the schema takes a text
  await ff.submit(checked, 4)
  await other.signal('answer', { ok: true })
  // @ts-expect-error a wrong payload
  await other.signal('answer', { ok: 'yes' })
  // @ts-expect-error no payload
  await other.signal('answer')
  // @ts-expect-error a signal that nobody waits for
  await other.signal('reply', { ok: true })
  await run.signal('anything', { goes: true })

  const release = await ff.flow((f) => {
    const first = f.add(plain, { email: '' }, { name: 'first', priority: 5 })
    expectTypeOf(first).toEqualTypeOf<MemberRef<{ size: number }>>()
    // @ts-expect-error a wrong input
    f.add(plain, { mail: '' })
    // @ts-expect-error no input
    f.add(plain)
    // @ts-expect-error an option that is none
    f.add(plain, { email: '' }, { prority: 5 })
    f.add(empty)
    f.add('by-kind', { anything: true })
    return f.after(first, f.add(checked, 'four'))
  })
  expectTypeOf(await release.result()).toEqualTypeOf<number>()
  task('reads', async (ctx) => {
    expectTypeOf(await ctx.upstream(plain)).toEqualTypeOf<{ size: number }>()
    expectTypeOf(await ctx.upstream('any')).toEqualTypeOf<unknown>()
  })

  await ff.schedules.put('a', { task: plain, input: { email: '' }, every: '1h' })
  await ff.schedules.put('a', { task: empty, every: '1h' })
  await ff.schedules.put('a', { kind: 'by-kind', input: { anything: true }, every: '1h' })
  // @ts-expect-error a wrong input
  await ff.schedules.put('a', { task: plain, input: { mail: '' }, every: '1h' })
  // @ts-expect-error no input
  await ff.schedules.put('a', { task: plain, every: '1h' })
  // @ts-expect-error the schema takes a text
  await ff.schedules.put('a', { task: checked, input: 4, every: '1h' })

  ff.worker({ tasks: [plain, checked, empty], concurrency: 5 })
  // @ts-expect-error no task
  ff.worker({ tasks: ['plain'] })

  // @ts-expect-error a wrong output
  task('wrong', { output: count }, () => 'text')
  // @ts-expect-error a handler that takes another input than the schema gives
  task('wrong', { input: length }, (_, said: string) => said)
  task('wrong', { signals: { answer: text } }, async (ctx) => {
    // @ts-expect-error not a wait for this
    const answer: number = await ctx.waitFor('answer')
    // @ts-expect-error an undeclared name needs a schema
    await ctx.waitFor('reply')
    expectTypeOf(await ctx.waitFor('reply', { schema: count })).toEqualTypeOf<number>()
    return answer
  })
  task('undeclared', async (ctx) => {
    // For no-floating-promises, which must report a forgotten await.
    expectTypeOf<Wait<number>>().toExtend<Promise<number>>()
    expectTypeOf(await ctx.waitFor('reply', { schema: count })).toEqualTypeOf<number>()
    expectTypeOf(await ctx.waitFor(await ctx.waitpoint('reply'), { schema: count })).toEqualTypeOf<number>()
    expectTypeOf(await ctx.waitFor('reply')).toBeUnknown()
    // @ts-expect-error no unit
    await ctx.waitFor('reply', { timeout: '2 dayz' })
  })
  task('dates', async (ctx) => {
    expectTypeOf(await ctx.step('at', () => new Date())).toEqualTypeOf<string>()
    expectTypeOf(await ctx.step('in', async () => ({ at: new Date() }))).toEqualTypeOf<{ at: string }>()
    expectTypeOf(await ctx.step('checked', (): unknown => 5, { schema: count })).toEqualTypeOf<number>()
    expectTypeOf(await ctx.run(dated)).toEqualTypeOf<{ at: string }>()
    expectTypeOf((await ctx.spawn(dated)).result()).toEqualTypeOf<Wait<{ at: string }>>()
    expectTypeOf(await ctx.upstream(dated)).toEqualTypeOf<{ at: string }>()
    // @ts-expect-error JSON gives back a string
    const at: Date = await ctx.step('at', () => new Date())
    // @ts-expect-error another value than the schema takes
    await ctx.step('checked', () => 'text', { schema: count })
    return at
  })
  expectTypeOf(await (await ff.submit(dated)).result()).toEqualTypeOf<{ at: string }>()
  // @ts-expect-error a Date comes as a string
  task('wrong', (_, { at }: { at: Date }) => at.getTime())
  // @ts-expect-error the same with options
  task('wrong', { version: '2' }, (_, { at }: { at: Date }) => at.getTime())
  task('optional', (_, { a }: { a: string | undefined }) => a)

  expectTypeOf(plain).toExtend<Task<{ email: string }, { size: number }>>()
}

test('the types above compile, and the marked lines do not', () => {
  expect([plain, checked, empty, dated].map(({ name }) => name)).toEqual(['plain', 'checked', 'empty', 'dated'])
})
