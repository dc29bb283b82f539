import { attemptTimeout } from './attempt-timeout.ts'
import { cancelDeadline } from './cancel-deadline.ts'
import { delayedPromoter } from './delayed-promoter.ts'
import type { Duty } from './duty.ts'
import { executionDeadline } from './execution-deadline.ts'
import { leaseExpiry } from './lease-expiry.ts'

export const allDuties: readonly Duty[] = [
  delayedPromoter,
  leaseExpiry,
  attemptTimeout,
  executionDeadline,
  cancelDeadline,
]
