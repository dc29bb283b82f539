/**
 * What an execution has besides itself, as bits of one column. An ending without any bit is a single statement; each bit
 * sends it through the clean-up of that noun. The values are stored: add, never renumber.
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
  /** It stands for a flow, whose ending is its own. */
  subFlow: 1 << 9,
  /** It has, or once had, tags: a claim looks for them only then. */
  tags: 1 << 10,
  /** Its policy bounds each attempt: a claim reads the policy only then. */
  attemptTimeout: 1 << 11,
  /** Its policy bounds the signals that it may receive: one that comes reads the policy only then. */
  signalLimit: 1 << 12,
  /** Its code has registered a compensation: a cancel asks first, so that the code can undo what it did. */
  compensation: 1 << 13,
  /** Its task has only an `onFailure` hook: its deadline and the other limits ask first, and a cancel does not. */
  onFailure: 1 << 14,
} as const
