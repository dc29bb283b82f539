// Lengths, patterns and bounds of requests, from `model/limits.ts`. The document never refuses a value that the engine accepts: the
// engine counts bytes of UTF-8, and a text never has more characters than bytes.
import { z } from 'zod'
import { limits } from '../../model/limits.ts'
import { sourceTypes } from '../../model/signal.ts'

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

export const idPrefix = z
  .string()
  .min(limits.idPrefixCharacters)
  .max(36)
  .regex(/^[0-9a-fA-F]{8}[0-9a-fA-F-]*$/)
  .describe('How the uuid begins, as in `0190b6d2-4f`.')

export const namespace = text({ most: limits.namespaceBytes }).describe('One namespace; not `*`.')
export const lane = text({ most: limits.laneBytes, of: 'ascii' })
export const kind = text({ most: limits.kindBytes })
export const version = text({ most: limits.versionBytes })
export const creator = text({ least: 0, most: limits.creatorBytes, of: 'text' })
export const reason = text({ least: 0, most: limits.reasonBytes, of: 'text' })
export const neededReason = text({ most: limits.reasonBytes, of: 'text' })
export const deathReason = text({ most: limits.deathReasonBytes })
export const idempotencyKey = text({ most: limits.idempotencyKeyBytes, of: 'text' })
export const encoding = text({ most: limits.encodingBytes, of: 'ascii' })
export const errorEncoding = text({ most: limits.encodingBytes, of: 'text' })
export const cursorText = text({ most: limits.cursorBytes, of: 'ascii' })
export const workerName = text({ most: limits.workerNameBytes })
export const host = text({ most: limits.hostBytes })
/** Compared with the stored one; any text is accepted. */
export const expectedWorkerName = text({ least: 0, most: limits.workerNameBytes, of: 'text' })
export const expectedLeaseId = text({ least: 0, most: limits.leaseIdBytes, of: 'text' })
export const grantId = text({ most: limits.grantIdBytes, of: 'text' })
export const keyId = text({ most: limits.keyIdBytes, of: 'text' })
export const leaseId = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const edgeId = z.string().regex(new RegExp(`^${uuidPattern}$`))

export const signalName = text({ most: limits.signalNameBytes })
export const signalLabel = text({ most: limits.signalSourceBytes })
export const sourceType = signalLabel.describe(`A type that the sender claims; not ${sourceTypes.join(', ')} or key.`)
export const sourceIdentity = text({ least: 0, most: limits.signalSourceBytes })
export const waitpointKey = text({ most: limits.waitpointKeyBytes })
export const idempotencySuffix = text({ most: limits.idempotencySuffixBytes, of: 'text' })
export const token = text({ most: limits.keyIdBytes + 65, of: 'ascii' })
export const link = z
  .string()
  .min(1)
  .max(limits.linkBytes)
  .regex(/^[\w-]+$/)
export const linkAction = text({ most: limits.linkActionBytes })
export const linkPerson = text({ most: limits.linkPersonBytes })

export const kid = z
  .string()
  .min(1)
  .max(limits.keyIdBytes)
  .regex(/^[ -9;-~]+$/)
export const secret = z
  .string()
  .min(limits.signingSecretMinBytes * 2)
  .max(limits.signingSecretBytes * 2)
  .regex(/^(?:[0-9a-fA-F]{2})+$/)
export const seedSecret = z.string().regex(/^[0-9a-fA-F]{64}$/)
export const apiKeyName = text({ most: limits.apiKeyNameBytes })

export const stepName = text({ most: limits.stepNameBytes })
export const scheduleId = text({ most: limits.scheduleIdBytes })
export const cron = text({ most: limits.cronBytes, of: 'ascii' })
export const timeZone = text({ most: limits.timeZoneBytes, of: 'ascii' })
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

/** Whole numbers. */
export const priority = z.int().min(0).max(limits.priorityMax)
export const pageLimit = z.int().min(0)
export const requestId = text({ most: limits.requestIdBytes })
export const epoch = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
export const revision = z.int().min(0)
export const stepIndex = z
  .int()
  .min(0)
  .max(limits.stepCount - 1)
/** For a column of four bytes. */
export const smallCount = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
