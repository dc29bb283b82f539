// Whether leases are still valid, and whether their holder is asked to stop: a worker calls it once a second, so that a
// cancel reaches running code before the next renewal. It writes nothing.
import { limits } from '../../model/limits.ts'
import { checkSet } from '../../model/sets.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { leaseStates, type LeaseAnswer } from '../execution/renew.ts'
import type { Fence } from '../transition/fence.ts'

export interface CheckLeasesRequest {
  readonly leases: readonly Fence[]
}

/** In the order of the request. */
export async function checkLeases(
  sql: Sql,
  caller: Caller,
  request: CheckLeasesRequest,
): Promise<readonly LeaseAnswer[]> {
  refuseUnknownFields('leases.check', request, ['leases'])
  checkSet('leases', request.leases, limits.leaseCount)
  return leaseStates(sql, caller, request.leases)
}
