// Statements that are sent again: because the log had no block for their event, because another transaction came first, or
// because the reply was lost. This does nothing twice: ids are minted before the first send, and a write that finds its own
// effect reports it. A write that may not find it, because later writes can hide it, is sent only once.
import { isConnectionLost, sqlState } from '../../sql/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import { databaseErrorOf } from './failure.ts'
import { ensureEventBlock, lacksEventBlock } from './log-block.ts'

// Bounded, because each reason to send again could in theory repeat.
const maxTries = 4

/** Facts about earlier sends of the same items; the caller keeps them across halves and lone sends. */
export interface Sending {
  /** A reply was lost: the statement may have been committed. */
  again: boolean
  /** The error of a lost reply is thrown: a repeat would do more than the caller requested. */
  readonly onlyOnce?: boolean
}

export async function untilSent<T>(sql: Sql, sending: Sending, send: (again: boolean) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await send(sending.again)
    } catch (error) {
      if (tries === maxTries) throw error
      const cause = databaseErrorOf(error)
      if (lacksEventBlock(cause)) await ensureEventBlock(sql)
      else if (isConnectionLost(cause) && sending.onlyOnce !== true) sending.again = true
      else if (!isRaceLost(cause)) throw error
    }
  }
}

// Serialization failure, deadlock, or a row that another transaction inserted first: nothing was written, and the next
// try, with its new snapshot, finds the winner's rows.
function isRaceLost(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01' || state === '23505'
}
