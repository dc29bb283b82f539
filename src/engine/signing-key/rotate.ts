// Rotate: a new key signs from now on; the one before verifies until its grace is over.
import type { Duration } from '../../model/duration.ts'

export interface RotateRequest {
  /** Left out: the key that all namespaces share which have none of their own. */
  readonly namespace?: string
  readonly kid: string
  /** Hex digits. */
  readonly secret: string
  /** How long the key before goes on verifying; defaults to a day. */
  readonly grace?: Duration
}

export type RotateResult =
  | {
      readonly kind: 'rotated'
      readonly previousKid: string | null
      readonly kid: string
      /** Keys whose grace was over and that are gone now. */
      readonly removedCount: number
    }
  /** This key with this secret signs already. */
  | { readonly kind: 'unchanged'; readonly kid: string }
