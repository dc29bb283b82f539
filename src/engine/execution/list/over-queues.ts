// A page in order over many queues, each of which has an index in that order. Reading a whole page from every queue and
// dropping most of it would cost queues times limit (measured: 6.5 ms against 1.4 ms over 80 queues); so a few rows of
// each are sampled first. The page's last row cannot come after the limit-th of the sample, which bounds the second
// read.
import { queueCondition } from './source.ts'

export interface QueueOrder {
  /** The table with its alias, as in `flowfabric.ff_ready r`; it has a `queue_id`. */
  readonly from: string
  readonly alias: string
  /** The condition on a row, besides its queue; `true` without one. */
  readonly condition: string
  /** The columns of the order, behind `queue_id` in the index. All ascend, or all descend. */
  readonly columns: readonly string[]
  readonly descending: boolean
  /** Parameters with the key of the last row seen, one for each column. */
  readonly after: readonly string[]
  /** SQL values that come after every key. */
  readonly end: readonly string[]
}

/** Yields the CTE `page` with the order's columns; `$1` to `$3` are the filter by queue, `$4` the limit. */
export function pageOverQueues({ from, alias, condition, columns, descending, after, end }: QueueOrder): string {
  const key = columns.map((column) => `${alias}.${column}`).join(', ')
  const order = (prefix: string) => columns.map((column) => `${prefix}${column}${descending ? ' desc' : ''}`).join(', ')
  const beyond = descending ? '<' : '>'
  const bound = columns.map((column, index) => `coalesce((select ${column} from bound), ${end[index]})`).join(', ')
  return `
with queue as materialized (
  select q.queue_id
  from flowfabric.ff_queue q
  where ${queueCondition}
),
sample as materialized (
  select first.*
  from queue
  cross join lateral (
    select ${key}
    from ${from}
    where ${alias}.queue_id = queue.queue_id and ${condition} and (${key}) ${beyond} (${after.join(', ')})
    order by ${order(`${alias}.`)}
    limit $4::int8 / 16 + 1
  ) first
),
bound as materialized (
  select *
  from sample
  order by ${order('')}
  offset $4 - 1
  limit 1
),
page as materialized (
  select next.*
  from queue
  cross join lateral (
    select ${key}
    from ${from}
    where ${alias}.queue_id = queue.queue_id and ${condition} and (${key}) ${beyond} (${after.join(', ')})
      and (${key}) ${beyond === '<' ? '>=' : '<='} (${bound})
    order by ${order(`${alias}.`)}
    limit $4
  ) next
  order by ${order('next.')}
  limit $4
)`
}
