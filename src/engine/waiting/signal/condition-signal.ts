// An incoming signal, as conditions evaluate it.
import type { ConditionSignal } from '../../../model/condition-match.ts'
import { jsonOf } from '../suspension/open-suspensions.ts'
import type { Incoming } from './incoming.ts'

interface Arriving {
  readonly item: Incoming
  readonly found: { readonly waitpoint_key: string | null; readonly now_ms: number }
}

/** Without its payload if no predicate reads it. */
export function conditionSignalOf({ item, found }: Arriving, withPayload: boolean): ConditionSignal {
  const payload = withPayload ? jsonOf(item.payload, item.payloadEncoding) : undefined
  return {
    id: item.signalId,
    name: item.name,
    source: item.source,
    ...(found.waitpoint_key === null ? {} : { waitpoint: found.waitpoint_key }),
    ...(payload === undefined ? {} : { payload }),
    acceptedAt: found.now_ms,
  }
}
