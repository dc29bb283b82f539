import type { Sql } from '../../sql/sql.ts'
import { attemptTimeout } from './attempt-timeout.ts'
import { cancelBacklog } from './cancel-backlog.ts'
import { cancelDeadline } from './cancel-deadline.ts'
import { delayedPromoter } from './delayed-promoter.ts'
import { dispatch } from './dispatch.ts'
import type { Duty } from '../kernel/duty.ts'
import { embeddedUpkeep } from './embedded-upkeep.ts'
import { executionDeadline } from './execution-deadline.ts'
import { grantExpiry } from './grant-expiry.ts'
import { keyExpiry } from './key-expiry.ts'
import { leaseExpiry } from './lease-expiry.ts'
import { logBlocks } from './log-blocks.ts'
import { retention } from './retention.ts'
import { scheduleFire } from './schedule-fire.ts'
import { signingKeyExpiry } from './signing-key-expiry.ts'
import { suspensionTimeout } from './suspension-timeout.ts'
import { suspensionWake } from './suspension-wake.ts'
import { waitpointExpiry } from './waitpoint-expiry.ts'
import { workerExpiry } from './worker-expiry.ts'

export interface KeptFor {
  /** An execution, after it ended. */
  readonly endingsMs: number
  /** An event of the log. */
  readonly logMs: number
}

const thirtyDays = 30 * 24 * 3_600_000

export const defaultKeptFor: KeptFor = { endingsMs: thirtyDays, logMs: thirtyDays }

/** All duties of such a database. */
export function allDuties(kind: Sql['kind'], { endingsMs, logMs } = defaultKeptFor): readonly Duty[] {
  return [
    delayedPromoter,
    leaseExpiry,
    attemptTimeout,
    executionDeadline,
    cancelDeadline,
    dispatch,
    cancelBacklog,
    suspensionTimeout,
    suspensionWake,
    scheduleFire,
    waitpointExpiry,
    grantExpiry,
    keyExpiry,
    signingKeyExpiry,
    workerExpiry,
    retention(endingsMs),
    logBlocks({ keptForMs: logMs }),
    ...(kind === 'embedded' ? [embeddedUpkeep] : []),
  ]
}
