/**
 * The nouns that an execution has, as bits of one column. An ending without any bit is a single statement; each bit
 * adds the clean-up of that noun. The values are stored: add, never renumber.
 */
export const attached = {
  waitpoints: 1 << 0,
  suspension: 1 << 1,
  stream: 1 << 2,
  admission: 1 << 3,
  flow: 1 << 4,
  parent: 1 << 5,
  children: 1 << 6,
  grant: 1 << 7,
  /** Signals by name that no condition has taken yet. */
  signals: 1 << 8,
  /** It represents a flow, and ends as that flow does. */
  subFlow: 1 << 9,
  /** It has, or once had, tags: a claim reads them only then. */
  tags: 1 << 10,
  /** Its policy limits each attempt: a claim reads the policy only then. */
  attemptTimeout: 1 << 11,
  /** Its policy limits the signals that it may receive: a signal reads the policy only then. */
  signalLimit: 1 << 12,
  /** Its code has registered a compensation: a cancel requests a stop first, so that the code can undo its work. */
  compensation: 1 << 13,
  /**
   * Its task has only an `onFailure` hook: its deadline and the other limits request a stop first, and a cancel does
   * not.
   */
  onFailure: 1 << 14,
} as const
