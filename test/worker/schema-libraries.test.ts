// Common schema libraries, each as the schema of an input, an output, a step and a signal.
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { working } from './working.ts'

const libraries = {
  zod: task(
    'zod',
    {
      input: z.object({ amount: z.number().positive(), currency: z.string().default('EUR') }),
      output: z.object({ paid: z.string() }),
      signals: { answer: z.object({ ok: z.boolean() }) },
    },
    async (ctx, { amount, currency }) => {
      const charged = await ctx.step('charge', () => `${amount} ${currency}`, { schema: z.string() })
      const { ok } = await ctx.waitFor('answer')
      return { paid: ok ? charged : 'nothing' }
    },
  ),
  valibot: task(
    'valibot',
    {
      input: v.object({ amount: v.pipe(v.number(), v.minValue(1)), currency: v.optional(v.string(), 'EUR') }),
      output: v.object({ paid: v.string() }),
      signals: { answer: v.object({ ok: v.boolean() }) },
    },
    async (ctx, { amount, currency }) => {
      const charged = await ctx.step('charge', () => `${amount} ${currency}`, { schema: v.string() })
      const { ok } = await ctx.waitFor('answer')
      return { paid: ok ? charged : 'nothing' }
    },
  ),
  arktype: task(
    'arktype',
    {
      input: type({ amount: 'number > 0', currency: "string = 'EUR'" }),
      output: type({ paid: 'string' }),
      signals: { answer: type({ ok: 'boolean' }) },
    },
    async (ctx, { amount, currency }) => {
      const charged = await ctx.step('charge', () => `${amount} ${currency}`, { schema: type('string') })
      const { ok } = await ctx.waitFor('answer')
      return { paid: ok ? charged : 'nothing' }
    },
  ),
}

test.each(Object.entries(libraries))(
  '%s: types and checks work, with defaults, and a rejection names the field',
  async (_, paying) => {
    const { submit, runAll } = await working([paying])
    const run = await submit(paying, { amount: 5 })
    await runAll()
    await refusal('invalid_input', run.signal('answer', { ok: 'yes' } as never))
    await run.signal('answer', { ok: true })
    await runAll()
    const result = await run.result()
    expectTypeOf(result).toEqualTypeOf<{ paid: string }>()
    expect(result).toEqual({ paid: '5 EUR' })
    const error = await refusal('invalid_input', submit(paying, { amount: -5 }))
    expect(error.message).toMatch(new RegExp(`^the input of ${paying.name} is refused by its schema: amount: `))
  },
)
