// The signals of an execution, in the order in which they were accepted.
import type { Signal } from './signal.ts'

export interface ListSignalsRequest {
  readonly limit?: number
  readonly cursor?: string
}

export interface SignalPage {
  readonly signals: readonly Signal[]
  readonly nextCursor: string | null
}
