// A signal as readers see it.
import type { ExecutionId, WaitpointId } from '../../model/id.ts'
import type { SignalEffect, SignalSource } from '../../model/signal.ts'

export interface Signal {
  readonly signalId: string
  readonly executionId: ExecutionId
  readonly name: string
  readonly category: string
  readonly source: SignalSource
  /** Null when it was sent by name. */
  readonly waitpointId: WaitpointId | null
  readonly waitpointKey: string | null
  readonly correlationId: string | null
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
  /** What it did when it was accepted. */
  readonly effect: SignalEffect
  readonly acceptedAt: number
  /** When a condition that it satisfied took it. */
  readonly takenAt: number | null
}
