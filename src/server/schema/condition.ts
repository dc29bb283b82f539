import { z } from 'zod'
import * as bounds from './bounds.ts'
import { countedThings } from '../../model/condition.ts'
import { limits } from '../../model/limits.ts'
import { sourceTypes } from '../../model/signal.ts'
import { executionId, json, named, request, time } from './words.ts'

const path = { path: z.array(z.union([z.string(), z.int().min(0)])).optional() }
const comparable = z.union([z.number(), z.string()])

const predicate: z.ZodType = z.lazy(() =>
  z.union([
    request({ ...path, exists: z.boolean() }),
    request({ ...path, equals: json }),
    request({ ...path, oneOf: z.array(json).min(1) }),
    request({ ...path, above: comparable }),
    request({ ...path, atLeast: comparable }),
    request({ ...path, below: comparable }),
    request({ ...path, atMost: comparable }),
    request({ allOf: z.array(predicate).min(1) }),
    request({ anyOf: z.array(predicate).min(1) }),
    request({ not: predicate }),
  ]),
)

const matcher = {
  name: bounds.signalName.optional(),
  source: request({ type: z.enum(sourceTypes).optional(), identity: bounds.sourceIdentity.optional() }).optional(),
  payload: named('Predicate', predicate, 'A test of the JSON payload.').optional(),
}

const anyCondition: z.ZodType = z.lazy(() =>
  z.union([
    request({ kind: z.literal('signal'), waitpoint: bounds.waitpointKey.optional(), ...matcher }),
    request({
      kind: z.literal('count'),
      n: z.int().min(1).max(limits.signalCount),
      distinct: z.enum(countedThings),
      waitpoints: z.array(bounds.waitpointKey).min(1).max(limits.waitpointCount).optional(),
      ...matcher,
    }),
    request({ kind: z.literal('operator') }),
    request({ kind: z.literal('timeout') }),
    request({ kind: z.literal('child'), executionId }),
    request({ kind: z.literal('time'), at: time }),
    request({ kind: z.literal('allOf'), members: z.array(anyCondition).min(1) }),
    request({ kind: z.literal('anyOf'), members: z.array(anyCondition).min(1) }),
  ]),
)

export const condition = named('Condition', anyCondition, 'The condition for resuming.')
