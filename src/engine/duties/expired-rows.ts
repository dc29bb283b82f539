// The frame of a duty that deletes expired rows which no operation reads any more. Deleting such a row changes no other row,
// so a set has no bad rows.
import type { Statement } from '../../sql/statement.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { scopeOf, type scopeParams } from '../kernel/scope.ts'

export const expiredRow = { cleared_count: 'int8' } as const

export function clearingDuty(
  duty: Pick<Duty, 'name' | 'watch' | 'intervalMs'> & {
    readonly act: Statement<typeof scopeParams, typeof expiredRow>
  },
): Duty {
  const { act, ...rest } = duty
  return {
    ...rest,
    runOnce: async (sql, options = {}) => {
      const scope = scopeOf(options)
      const rows = await sql.query(act, scope).catch((error: unknown) => {
        throw asEngineError(error)
      })
      const processed = rows[0]!.cleared_count
      return { processed, errors: 0, isFull: processed >= scope.batch, effects: noEffects }
    },
  }
}
