// What a look at the database's health found, of one thing.

export type FindingLevel =
  | 'fine'
  /** Worth knowing, and no trouble. */
  | 'note'
  | 'trouble'
  /** It could not be looked at: it took too long, or a right is missing. */
  | 'unknown'

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string
  readonly verdict: FindingLevel
  readonly sentence: string
  /** What to do about it. */
  readonly next: string | null
  /** The first few of what is meant. */
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
