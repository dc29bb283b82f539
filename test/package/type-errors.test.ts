// The compiler errors for the most frequent mistakes: the first line names the mistake, and is short.
import { expect, test } from 'vitest'
import { compile, ownSources } from '../support/compile.ts'

const head = `import { task, type Context, type FlowFabric, type Schema } from 'flowfabric'
declare const ff: FlowFabric
declare const count: Schema<number>
const plain = task('plain', async (_ctx, { email }: { email: string }) => email)
`

// Mistakes, each on a line of its own, with the expected error.
const mistakes: readonly (readonly [string, string])[] = [
  [
    `void ff.submit(plain, { mail: '' })`,
    `Object literal may only specify known properties, but 'mail' does not exist in type '{ email: string; }'. Did you mean to write 'email'?`,
  ],
  [
    `void ff.flow((f) => void f.add(plain, { mail: '' }))`,
    `Object literal may only specify known properties, but 'mail' does not exist in type '{ email: string; }'. Did you mean to write 'email'?`,
  ],
  [
    `void ff.flow((f) => void f.add(plain, 5))`,
    `Argument of type 'number' is not assignable to parameter of type '{ email: string; }'.`,
  ],
  [`void ff.flow((f) => void f.add(plain))`, `Expected 2-3 arguments, but got 1.`],
  [
    `void ff.flow((f) => void f.add(plain, { email: '' }, { prority: 5 }))`,
    `Object literal may only specify known properties, but 'prority' does not exist in type 'MemberOptions'. Did you mean to write 'priority'?`,
  ],
  [
    `task('a', { signals: { answer: count } }, async (ctx) => ctx.waitFor('anwser'))`,
    `Argument of type '"anwser"' is not assignable to parameter of type '"answer" | Waitpoint'.`,
  ],
  [`task('a', async (ctx) => { (await ctx.waitFor('answer')).by })`, `Object is of type 'unknown'.`],
  [`task('a', { output: count }, () => 'text')`, `Type 'string' is not assignable to type 'number | Promise<number>'.`],
  [
    `task('a', { output: count }, (ctx) => ctx.step('x', () => 'text'))`,
    `Type 'Promise<string>' is not assignable to type 'number | Promise<number>'.`,
  ],
  [
    `task('a', (ctx) => ctx.step('x', () => 1, { retires: 3 }))`,
    `Object literal may only specify known properties, and 'retires' does not exist in type 'StepOptions<number, number>'.`,
  ],
]

test('a wrong input, a misspelt signal or option and a wrong output are reported in one short line', async () => {
  const files = { 'mistakes.ts': head + mistakes.map(([code]) => code).join('\n') }
  const lines = await compile({ files, compilerOptions: ownSources })
  const said = lines.map((line) => /^mistakes\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(line)!.slice(1))
  const first = head.split('\n').length
  expect(said).toEqual(mistakes.map(([, message], index) => [String(first + index), message]))
})

test('a helper accepts the context of any task, and a waitpoint needs no declared name', async () => {
  const code = `
const helper = async (ctx: Context): Promise<unknown> => ctx.waitFor('any')
task('a', { signals: { answer: count } }, async (ctx) => helper(ctx))
task('a', { signals: { answer: count } }, async (ctx) => {
  const answer: number = await ctx.waitFor('answer')
  const other: unknown = await ctx.waitFor(await ctx.waitpoint('other'))
  return [answer, other]
})
`
  expect(await compile({ files: { 'fine.ts': head + code }, compilerOptions: ownSources })).toEqual([])
})

test('a codec that revives values keeps the types that are declared for it', async () => {
  const revives = (types: string): string =>
    `declare module 'flowfabric' { interface Register { revives: ${types} } }\n`
  const code = `
export const dated = task('dated', async (ctx, { at }: { at: Date }) => {
  const step: { at: Date; tags: Set<string> } = await ctx.step('x', () => ({ at, tags: new Set(['a']) }))
  const done: Date = await (await ff.submit(dated2)).result()
  return [step, done]
})
const dated2 = task('dated2', () => new Date())
`
  const compiled = (text: string) => compile({ files: { 'a.ts': head + text }, compilerOptions: ownSources })
  expect(await compiled(revives('Date | Set<unknown>') + code)).toEqual([])
  expect(await compiled(revives('unknown') + code)).toEqual([])
  expect((await compiled(code)).map((line) => line.slice(0, 12))).toEqual([
    'a.ts(6,36): ',
    'a.ts(7,9): e',
    'a.ts(8,9): e',
  ])
})
