import { z } from 'zod'
import { limits } from '../../model/limits.ts'
import { policySources } from '../../model/task-policy.ts'
import { failureCategories, retryableCategories } from '../../model/policy.ts'
import { answer, duration, durationWithin, milliseconds, named, request } from './words.ts'

export const failureCategory = named('FailureCategory', z.enum(failureCategories))

const retryCategories = z.array(z.enum(retryableCategories))

const exponentialInput = request({
  type: z.literal('exponential'),
  initialMs: duration.optional(),
  maxMs: duration.optional(),
  multiplier: z.number().min(1).max(limits.backoffMultiplier).optional(),
  jitter: z.number().min(0).max(1).optional(),
})

const fixedInput = request({
  type: z.literal('fixed'),
  delayMs: duration.optional(),
  jitter: z.number().min(0).max(1).optional(),
})

named(
  'PolicyInput',
  request({
    retry: request({
      attempts: z.int().min(1).max(limits.attempts).describe('Runs in all, the first included.'),
      backoff: z.union([exponentialInput, fixedInput]).optional(),
      categories: retryCategories.min(1).optional(),
    }).optional(),
    attemptTimeoutMs: durationWithin(1, limits.durationMs).optional(),
    maxReclaimCount: z.int().min(0).max(limits.reclaimCount).optional(),
    maxReplayCount: z.int().min(0).max(limits.replayCount).optional(),
    maxSignalCount: z.int().min(0).max(limits.signalCount).optional(),
  }),
)

export const applied = named(
  'AppliedPolicy',
  answer({
    attempts: z.int().describe('Runs in all, the first included.'),
    attemptsFrom: z.enum(policySources),
    lane: z.string(),
    laneFrom: z.enum(policySources),
    isRegistered: z.boolean().describe('False: no worker has registered a task of this kind and version.'),
  }),
  'The policy of an execution. Each value is from the request, the registered task, the taskDefaults of the request, or the built-in default.',
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
