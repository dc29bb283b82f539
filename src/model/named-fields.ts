// Fields that several requests have: names, reasons, and what a worker serves.
import { parseCapabilities } from './capability.ts'
import { parseDuration, type Duration } from './duration.ts'
import { field } from './field.ts'
import { duration, text, textBy } from './field-kinds.ts'
import { limits } from './limits.ts'
import { checkNamespace } from './name.ts'
import { clampPriority } from './policy.ts'

const line = (maxBytes: number) => text({ minBytes: 1, maxBytes, refuseControls: true })

export const namespace = textBy(checkNamespace, {
  kind: 'text',
  rule: { minBytes: 1, maxBytes: limits.namespaceBytes, refuseControls: true },
}).describe('One namespace; not `*`.')
export const lane = text({ minBytes: 1, maxBytes: limits.laneBytes, printableAscii: true })
export const kind = line(limits.kindBytes)
export const version = line(limits.versionBytes)
export const workerName = line(limits.workerNameBytes)

/** One sentence for people. */
export const reason = text({ maxBytes: limits.reasonBytes })

/** A value outside of the bounds is clamped. */
export const priority = field<number>({
  check: (_, value) => clampPriority(value).priority,
  wire: { kind: 'whole', min: 0, max: limits.priorityMax },
  column: 'int2',
})

export const capabilities = field<readonly string[], string[]>({
  check: (_, value) => parseCapabilities(value),
  wire: { kind: 'named', name: 'capabilities' },
  column: null,
})

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
