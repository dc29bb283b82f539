// The database for operations that are sent directly, without a merger: after the engine is closed it refuses them, and each
// error is an EngineError. Sets use the database itself, because they decide by its own errors and their mergers close them.
import { around } from '../../sql/around.ts'
import type { Sql } from '../../sql/sql.ts'
import { engineClosed } from './closing.ts'
import { asEngineError } from './failure.ts'

export function sessionOf(sql: Sql, closing: { readonly hasBegun: boolean }): Sql {
  return around(sql, async (send) => {
    if (closing.hasBegun) throw engineClosed()
    try {
      return await send()
    } catch (error) {
      throw asEngineError(error)
    }
  })
}
