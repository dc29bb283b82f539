// Compares what a worker serves with what an execution needs. A claim chooses its queues by the same rule in SQL
// (`engine/queue/served.ts`).

export interface Served {
  /** Null: any kind. */
  readonly kinds: readonly string[] | null
  /** Besides executions that need no version. */
  readonly versions: readonly string[]
  readonly capabilities: readonly string[]
}

export interface Needed {
  readonly kind: string
  /** Null: any worker. */
  readonly version: string | null
  readonly capabilities: readonly string[]
}

/** The first mismatch, which completes `it ...`, with details; null when the worker serves the execution. */
export interface Mismatch {
  readonly sentence: string
  readonly details: Readonly<Record<string, unknown>>
}

export function mismatchOf(served: Served, needed: Needed): Mismatch | null {
  const { kind, version } = needed
  if (served.kinds !== null && !served.kinds.includes(kind)) {
    return { sentence: `has kind '${kind}', which the claim does not include`, details: { kind } }
  }
  if (version !== null && !served.versions.includes(version)) {
    return { sentence: `needs version '${version}', which the claim does not include`, details: { version } }
  }
  const missing = needed.capabilities.filter((one) => !served.capabilities.includes(one))
  if (missing.length === 0) return null
  return { sentence: `needs ${missing.join(', ')}, which the claim does not include`, details: { missing } }
}
