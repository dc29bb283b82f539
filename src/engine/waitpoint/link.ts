// An approval link: whoever opens it asks for one action on one waitpoint, once and until it expires.
import type { Duration } from '../../model/duration.ts'
import type { WaitpointId } from '../../model/id.ts'

export interface LinkRequest {
  readonly waitpointId: WaitpointId
  /** Where the page is that opens it. */
  readonly base: string
  /** The name of the signal that it sends: `approved`, `rejected`. */
  readonly action: string
  readonly expiresIn: Duration
}

export interface ApprovalUrl {
  readonly url: string
  readonly expiresAt: number
}
