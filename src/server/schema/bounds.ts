// Lengths, patterns and bounds of requests, from `model/limits.ts`. The document never refuses a value that the engine accepts: the
// engine counts bytes of UTF-8, and a text never has more characters than bytes.
import { z } from 'zod'
import { limits } from '../../model/limits.ts'

interface Text {
  readonly least?: number
  readonly most: number
  /** The allowed characters: any but NUL, any but controls, or printable ASCII. */
  readonly of?: 'text' | 'line' | 'ascii'
}

const characters = {
  ascii: '[ -~]',
  line: '[^\\u0000-\\u001f\\u007f-\\u009f]',
  text: '[^\\u0000]',
  token: '[^\\u0000- ,\\u007f]',
} as const

export function text({ least = 1, most, of = 'line' }: Text): z.ZodString {
  const schema = z
    .string()
    .min(least)
    .max(most)
    .regex(new RegExp(`^${characters[of]}*$`))
  return of === 'ascii' ? schema : schema.describe(`At most ${most} bytes of UTF-8.`)
}

const hex = '[0-9a-fA-F]'
const uuidPattern = `${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`
export const partitionPattern = '(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])'
export const idPattern = new RegExp(`^(?:\\{fp:${partitionPattern}\\}:)?${uuidPattern}$`)

export const idempotencyKey = text({ most: limits.idempotencyKeyBytes, of: 'text' })
export const signalName = text({ most: limits.signalNameBytes })
export const sourceIdentity = text({ least: 0, most: limits.signalSourceBytes })
export const waitpointKey = text({ most: limits.waitpointKeyBytes })
export const kind = text({ most: limits.kindBytes })
export const cursorText = text({ most: limits.cursorBytes, of: 'ascii' })
export const leaseId = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const edgeId = z.string().regex(new RegExp(`^${uuidPattern}$`))

export const stepName = text({ most: limits.stepNameBytes })
export const scheduleId = text({ most: limits.scheduleIdBytes })
export const memberName = text({ most: limits.memberNameBytes })
export const dataRef = text({ most: limits.dataRefBytes })

export const tagKey = z
  .string()
  .min(1)
  .max(limits.tagKeyBytes)
  .regex(/^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/)
export const tagValue = text({ least: 0, most: limits.tagValueBytes, of: 'text' })
export const capabilities = z
  .array(
    z
      .string()
      .max(limits.capabilityListBytes)
      .regex(new RegExp(`^${characters.token}+$`)),
  )
  .max(limits.capabilityCount)
  .describe(`At most ${limits.capabilityListBytes} bytes, joined by commas.`)

export const epoch = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
export const revision = z.int().min(0)
export const stepIndex = z
  .int()
  .min(0)
  .max(limits.stepCount - 1)
