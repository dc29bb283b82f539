import { z } from 'zod'
import { errorTable } from '../../model/errors.ts'
import { answer, json } from './words.ts'

/** A refusal in the form of RFC 9457, with the engine's own fields. */
export const problem = answer({
  type: z.string(),
  title: z.string().describe('The meaning of the code.'),
  status: z.int(),
  detail: z.string().describe('The problem, and the next action.'),
  code: z.enum(Object.keys(errorTable) as [keyof typeof errorTable]),
  retryable: z.boolean().describe('The same request may succeed later.'),
  details: z.record(z.string(), json),
  requestId: z.string(),
})
