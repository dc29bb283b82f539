// The rows that a run of a duty may process: those of a namespace, or of executions that have a tag; and how many at most.
import { refusal } from '../../model/errors.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkTagKey, checkTagValue, type Filter } from '../../model/tag.ts'
import { show } from '../../model/text.ts'
import type { ValuesOf } from '../../sql/statement.ts'
import type { RunOptions } from './duty.ts'

/** `$1` to `$4` of every statement that is run for a scope. */
export const scopeParams = { batch: 'int8', namespace: 'text?', tag_key: 'text?', tag_value: 'text?' } as const

export type DutyScope = ValuesOf<typeof scopeParams>

const largestBatch = 1000

export function scopeOf(options: RunOptions): DutyScope {
  refuseUnknownFields('runOnce', options, ['filter', 'batch', 'logger'])
  const { filter = {}, batch = largestBatch } = options
  if (!Number.isInteger(batch) || batch < 1 || batch > largestBatch) {
    throw refusal('invalid_input', 'batch', show(batch), `a whole number from 1 to ${largestBatch}`)
  }
  return { batch, ...checkFilter(filter) }
}

export function checkFilter(filter: Filter): Omit<DutyScope, 'batch'> {
  refuseUnknownFields('filter', filter, ['namespace', 'tag'])
  const { namespace, tag } = filter
  if (namespace !== undefined) checkNamespace(namespace)
  if (tag !== undefined) refuseUnknownFields('filter.tag', tag, ['key', 'value'])
  return {
    namespace: namespace ?? null,
    tag_key: tag === undefined ? null : checkTagKey(tag.key),
    tag_value: tag === undefined ? null : checkTagValue(tag.key, tag.value),
  }
}

/** Whether an execution has the tag. Read row by row: for `exists`, the planner would first collect all executions with the tag. */
export function hasTag(executionId: string): string {
  return `($3::text is null or $4::text = (
    select t.tag_value
    from flowfabric.ff_exec_tag t
    where t.execution_id = ${executionId} and t.tag_key = $3))`
}
