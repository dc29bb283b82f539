import { z } from 'zod'
import { countedThings } from '../../model/condition.ts'
import { executionId, json, named, request, time } from './words.ts'

const path = { path: z.array(z.union([z.string(), z.int()])).optional() }
const comparable = z.union([z.number(), z.string()])

const predicate: z.ZodType = z.lazy(() =>
  z.union([
    request({ ...path, exists: z.boolean() }),
    request({ ...path, equals: json }),
    request({ ...path, oneOf: z.array(json) }),
    request({ ...path, above: comparable }),
    request({ ...path, atLeast: comparable }),
    request({ ...path, below: comparable }),
    request({ ...path, atMost: comparable }),
    request({ allOf: z.array(predicate) }),
    request({ anyOf: z.array(predicate) }),
    request({ not: predicate }),
  ]),
)

const matcher = {
  name: z.string().optional(),
  source: request({ type: z.string().optional(), identity: z.string().optional() }).optional(),
  payload: named('Predicate', predicate, 'What the JSON of a payload must be.').optional(),
}

const anyCondition: z.ZodType = z.lazy(() =>
  z.union([
    request({ kind: z.literal('signal'), waitpoint: z.string().optional(), ...matcher }),
    request({
      kind: z.literal('count'),
      n: z.int(),
      distinct: z.enum(countedThings),
      waitpoints: z.array(z.string()).optional(),
      ...matcher,
    }),
    request({ kind: z.literal('operator') }),
    request({ kind: z.literal('timeout') }),
    request({ kind: z.literal('child'), executionId }),
    request({ kind: z.literal('time'), at: time }),
    request({ kind: z.literal('allOf'), members: z.array(anyCondition) }),
    request({ kind: z.literal('anyOf'), members: z.array(anyCondition) }),
  ]),
)

export const condition = named('Condition', anyCondition, 'What must have happened.')
