import { around } from '../sql/around.ts'
import { isConnectionLost, sqlState } from '../sql/errors.ts'
import type { Sql } from '../sql/sql.ts'
import type { Outage } from './outage.ts'

/** Wraps a database so that every call reports whether it is reachable. */
export function watched(sql: Sql, outage: Outage): Sql {
  const watching = around(sql, async (ask) => {
    const sentAt = performance.now()
    try {
      const answer = await ask()
      outage.answered(sentAt)
      return answer
    } catch (error) {
      if (isConnectionLost(error)) outage.failed('database', (error as Error).message, sentAt)
      else if (sqlState(error) !== undefined) outage.answered(sentAt)
      throw error
    }
  })
  return {
    ...watching,
    // Listening reconnects by itself, and resolves without a connection.
    listen: (channel, onHint) => sql.listen(channel, onHint),
    close: (withinMs) => {
      outage.close()
      return sql.close(withinMs)
    },
  }
}
