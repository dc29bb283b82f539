import { expect, test } from 'vitest'
import { z } from 'zod'
import { sampleInput } from '../../src/cli/sample-input.ts'
import { task, type Task } from '../../src/worker/task.ts'

const sampleOf = async (made: unknown): Promise<unknown> => {
  const text = await sampleInput(made as Task)
  return text === null || text === '' ? text : JSON.parse(text)
}

test('the example of a task is its sample; a task without input needs none', async () => {
  const given = task('t', { example: { id: "o'1" } }, (_, input: { id: string }) => input.id)
  expect(await sampleOf(given)).toEqual({ id: "o'1" })
  expect(await sampleOf(task('t', () => 1))).toBe('')
  expect(await sampleOf(task('t', (ctx) => ctx.executionId))).toBe('')
  expect(await sampleOf(task('t', (_, input: { id: string }) => input.id))).toBeNull()
})

test('a schema yields a sample that it accepts, or none', async () => {
  const input = z.object({
    email: z.email(),
    count: z.int().min(3),
    any: z.int(),
    few: z.number().max(0),
    kind: z.enum(['a', 'b']),
    lines: z.array(z.object({ text: z.string().min(6) })).min(1),
    note: z.string().optional(),
    either: z.union([z.boolean(), z.string()]),
  })
  const sample = await sampleOf(task('t', { input }, () => 1))
  expect(input.safeParse(sample).success).toBe(true)
  expect(sample).toMatchObject({ any: 1, few: 0, count: 3 })
  expect(sample).not.toHaveProperty('note')
  const strange = z.string().refine((text) => text === 'one that cannot be guessed')
  expect(await sampleOf(task('t', { input: strange }, () => 1))).toBeNull()
  const recursive: z.ZodType = z.lazy(() => z.object({ next: recursive }))
  expect(await sampleOf(task('t', { input: recursive }, () => 1))).toBeNull()
})

test('an example of another type is a type error', () => {
  // @ts-expect-error -- the id is a string
  task('t', { example: { id: 1 } }, (_, input: { id: string }) => input.id)
  // @ts-expect-error -- the id is a string
  task('t', { input: z.object({ id: z.string() }), example: { id: 1 } }, (_, input) => input.id)
  expect(task('t', { example: 'x' }, (_, input: string) => input)).toMatchObject({ example: 'x' })
})
