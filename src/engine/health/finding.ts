// The finding of one health check.

export type FindingLevel =
  | 'fine'
  /** Worth knowing, and no problem. */
  | 'note'
  | 'trouble'
  /** It could not be checked: it took too long, or a right is missing. */
  | 'unknown'

export interface Finding {
  /** The subject of the check, in a word or two. */
  readonly check: string
  readonly verdict: FindingLevel
  readonly sentence: string
  /** The next step. */
  readonly next: string | null
  /** The first few affected objects. */
  readonly subjects: readonly string[]
}

type More = Partial<Pick<Finding, 'next' | 'subjects'>>

export function finding(
  check: string,
  verdict: FindingLevel,
  sentence: string,
  { next = null, subjects = [] }: More = {},
): Finding {
  return { check, verdict, sentence, next, subjects }
}

/** How long something has lasted, in words. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

export function counted(count: number, most: number): string {
  return count >= most ? `${most} or more` : String(count)
}
