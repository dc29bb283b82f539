// Fields that several requests have: names, reasons, and what a worker serves.
import type { Bytes } from './bytes.ts'
import { parseCapabilities } from './capability.ts'
import { parseDuration, type Duration } from './duration.ts'
import { field } from './field.ts'
import { checkedBy, duration, text, unchecked, whole } from './field-kinds.ts'
import { parseIdPrefix, parsePartition } from './id.ts'
import { limits } from './limits.ts'
import { checkNamespace } from './name.ts'
import { clampPriority } from './policy.ts'
import { refuseUnknownFields } from './shape.ts'
import { parseKid } from './signing-key.ts'
import type { TextRule } from './text.ts'
import { checkTagKey, checkTagValue, parseTags, tagKeyForm, type Tags } from './tag.ts'

const line = (maxBytes: number) => text({ minBytes: 1, maxBytes, refuseControls: true })

export const namespace = checkedBy<string>(
  checkNamespace,
  { kind: 'text', rule: { minBytes: 1, maxBytes: limits.namespaceBytes, refuseControls: true } },
  'text',
).describe('One namespace; not `*`.')
export const lane = text({ minBytes: 1, maxBytes: limits.laneBytes, printableAscii: true })
export const kind = line(limits.kindBytes)
export const version = line(limits.versionBytes)
export const workerName = line(limits.workerNameBytes)

/** One sentence for people. */
export const reason = text({ maxBytes: limits.reasonBytes })
export const neededReason = text({ minBytes: 1, maxBytes: limits.reasonBytes })

/** A value outside of the bounds is clamped. */
export const priority = checkedBy<number>(
  (value) => clampPriority(value).priority,
  { kind: 'whole', min: 0, max: limits.priorityMax },
  'int2',
)

export const capabilities = checkedBy<readonly string[]>(parseCapabilities, { kind: 'named', name: 'capabilities' })

/** How long a call waits. A server waits a minute at most. */
export const wait = field<Duration, number, 'Ms'>({
  check: (name, value) => parseDuration(name, value),
  wire: { kind: 'duration', minMs: 0, maxMs: 60_000 },
  column: null,
  suffix: 'Ms',
})

export const leaseTtl = duration({
  minMs: limits.leaseTtlMinMs,
  maxMs: limits.leaseTtlMaxMs,
  allowed: `from ${limits.leaseTtlMinMs} ms to a day`,
})

/** `{fp:7}` or 7. */
export const partition = checkedBy<string | number, number>(parsePartition, { kind: 'named', name: 'partition' })

/** The range of the uuids that begin so. */
export const idPrefix = checkedBy<string, ReturnType<typeof parseIdPrefix>>(parseIdPrefix, {
  kind: 'pattern',
  pattern: /^[0-9a-fA-F]{8}[0-9a-fA-F-]*$/,
  min: limits.idPrefixCharacters,
  max: 36,
}).describe('How the uuid begins, as in `0190b6d2-4f`.')

export interface Tag {
  readonly key: string
  readonly value: string
}

export const tag = field<Tag>({
  check(name, value) {
    refuseUnknownFields(name, value, ['key', 'value'])
    const { key, value: text } = value as Tag
    return { key: checkTagKey(key), value: checkTagValue(key, text) }
  },
  wire: {
    kind: 'fields',
    fields: {
      key: unchecked({ kind: 'pattern', pattern: tagKeyForm, min: 1, max: limits.tagKeyBytes }),
      value: unchecked({ kind: 'text', rule: { maxBytes: limits.tagValueBytes } }),
    },
  },
  column: null,
})

/** The id of a signing key. */
export const kid = checkedBy<string>(parseKid, {
  kind: 'pattern',
  pattern: /^[ -9;-~]+$/,
  min: 1,
  max: limits.keyIdBytes,
})

export const stepName = text({ minBytes: 1, maxBytes: limits.stepNameBytes, refuseControls: true })
export const stepIndex = whole({ max: limits.stepCount - 1, column: 'int4' })

export const waitpointKey = line(limits.waitpointKeyBytes)

export const signalName = line(limits.signalNameBytes)
export const idempotencyKey = text({ minBytes: 1, maxBytes: limits.idempotencyKeyBytes })

const encoding: TextRule = { minBytes: 1, maxBytes: limits.encodingBytes, printableAscii: true }

/** Bytes with their encoding, in place of plain JSON; `payloadOf` checks the three together. */
export const payloadFields = {
  /** Bytes, in place of plain JSON. */
  payload: unchecked<Bytes>({ kind: 'bytes' }).optional(),
  /** How to read the payload; defaults to `json`. */
  payloadEncoding: unchecked<string>({ kind: 'text', rule: encoding }).optional(),
}

/** The signed part of an approval link. */
export const signedLink = unchecked<string>({ kind: 'pattern', pattern: /^[\w-]+$/, min: 1, max: limits.linkBytes })

export const tags = checkedBy<Tags>(parseTags, { kind: 'named', name: 'Tags' })
export const creator = text({ maxBytes: limits.creatorBytes })
