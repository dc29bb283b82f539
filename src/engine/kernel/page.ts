import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { show } from '../../model/text.ts'

/** Nought is an empty page; more than the most is the most. */
export function pageLimit(limit: number | undefined, most: number = limits.pageSize): number {
  if (limit === undefined) return limits.defaultPageSize
  if (Number.isInteger(limit) && limit >= 0) return Math.min(limit, most)
  throw new EngineError('invalid_input', `limit is ${show(limit)}; it must be a whole number from 0 to ${most}`, {
    field: 'limit',
  })
}
