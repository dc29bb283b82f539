import { z } from 'zod'
import { failureCategories, retryableCategories } from '../../model/policy.ts'
import { answer, duration, milliseconds, named, request } from './words.ts'

export const failureCategory = named('FailureCategory', z.enum(failureCategories))

const retryCategories = z.array(z.enum(retryableCategories))

const exponentialInput = request({
  type: z.literal('exponential'),
  initialMs: duration.optional(),
  maxMs: duration.optional(),
  multiplier: z.number().optional(),
  jitter: z.number().optional(),
})

const fixedInput = request({
  type: z.literal('fixed'),
  delayMs: duration.optional(),
  jitter: z.number().optional(),
})

export const policyInput = named(
  'PolicyInput',
  request({
    retry: request({
      attempts: z.int().describe('Runs in all, the first included.'),
      backoff: z.union([exponentialInput, fixedInput]).optional(),
      categories: retryCategories.optional(),
    }).optional(),
    attemptTimeoutMs: duration.optional(),
    maxReclaimCount: z.int().optional(),
    maxReplayCount: z.int().optional(),
    maxSignalCount: z.int().optional(),
  }),
)

const exponential = answer({
  type: z.literal('exponential'),
  initialMs: milliseconds,
  maxMs: milliseconds,
  multiplier: z.number(),
  jitter: z.number(),
})

const fixed = answer({ type: z.literal('fixed'), delayMs: milliseconds, jitter: z.number() })

export const policy = named(
  'Policy',
  answer({
    retry: answer({
      attempts: z.int(),
      backoff: z.union([exponential, fixed]),
      categories: retryCategories.optional(),
    }).optional(),
    attemptTimeoutMs: milliseconds.optional(),
    maxReclaimCount: z.int().optional(),
    maxReplayCount: z.int().optional(),
    maxSignalCount: z.int().optional(),
  }),
)
