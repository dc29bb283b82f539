// One statement reads for the whole fleet which duties are due, and takes them.
//
// The row 'supervisor' of a filter names the one process that polls. That process renews its term with each poll. The others
// read the row when the term ends, and one of them takes over: so a killed process delays the duties by the term at most,
// and an idle fleet costs one small read a term for each process.
//
// A duty is due when a row that it watches is due, and not every due row counts. After a run, rows that were due before it
// count again only when the interval is over: they belong to another filter, are locked or are quarantined. Rows that became
// due since then count at once. The clock may be set back: a time that is further ahead than this code ever writes does
// not count, or every duty would wait for as long.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { allDuties } from './all.ts'
import { smallestStepMs } from './clock-set-back.ts'
import type { TimerWatch } from '../kernel/duty.ts'

/** The name of the polling process's row, among those of the duties. */
export const supervisorRow = 'supervisor'

/** For how long a duty, or the right to poll, is taken: a process that is killed leaves it untouched for as long. */
export const termMs = 1500

// A row may be committed a moment after it became due, and so after a run that did not see it.
const lateCommitMs = 500

const register = statement({
  name: 'duty.register',
  params: { duties: 'text[]', filters: 'text[]' },
  row: {},
  text: `
insert into flowfabric.ff_duty (duty, filter)
select *
from unnest($1::text[], $2::text[])
on conflict do nothing`,
})

/** The earliest row of a duty between `after_ms` and `until_ms`. An index of expiries holds those above zero. */
function earliest({ column: timer, where, isPrompt }: TimerWatch): string {
  const [table, column] = timer.split('.')
  // Short, because there is one for each duty.
  const read = `(select t.${column} from flowfabric.${table} t
        where t.${column} > 0 and t.${column} > w.after_ms and t.${column} <= w.until_ms${where === undefined ? '' : ` and t.${where}`}
        order by t.${column} limit 1)`
  return isPrompt ? read : `case when not w.is_early then ${read} end`
}

const earliestByDuty = allDuties('embedded').flatMap(({ name, watch }) =>
  watch === undefined ? [] : [`when '${name}' then ${earliest(watch)}`],
)

// Locks the supervisor's row and those of due duties, and waits for neither. Its commit waits for no disk: a server that
// crashes frees the taken duties.
const poll = statement({
  name: 'duty.poll',
  params: {
    supervisor_filter: 'text',
    taken_by: 'text',
    term_ms: 'int8',
    horizon_ms: 'int8',
    duties: 'text[]',
    filters: 'text[]',
    intervals_ms: 'int8[]',
    are_hinted: 'bool[]',
  },
  row: {
    now_ms: 'int8',
    is_polling: 'bool',
    others_for_ms: 'int8?',
    polled_ms_ago: 'int8?',
    taken: 'text[]',
    next_in_ms: 'int8?',
    is_asynchronous: 'bool',
  },
  text: `
with supervisor as materialized (
  select s.duty, s.filter, s.last_run_at_ms
  from flowfabric.ff_duty s
  where s.duty = '${supervisorRow}' and s.filter = $1
    and (s.taken_by = $2 or (s.taken_until_ms between flowfabric.ff_now_ms() + 1 and flowfabric.ff_now_ms() + $3) is not true)
  for no key update skip locked
),
${clockAfter('supervisor')},
term as (
  update flowfabric.ff_duty s
  set taken_by = $2, taken_until_ms = c.now_ms + $3, last_run_at_ms = c.now_ms,
    last_report = case
      when p.last_run_at_ms > c.now_ms + ${smallestStepMs}
      then jsonb_build_object('setBackAt', c.now_ms, 'setBackMs', p.last_run_at_ms - c.now_ms)
      else s.last_report
    end
  from supervisor p
  cross join clock c
  where s.duty = p.duty and s.filter = p.filter
),
watched as materialized (
  select w.duty, d.filter, c.now_ms, c.now_ms + $4 as until_ms, d.last_report is null as is_new,
    d.next_at_ms between c.now_ms + 1 and c.now_ms + w.interval_ms as is_early,
    case when d.taken_by <> $2 and d.taken_until_ms between c.now_ms + 1 and c.now_ms + $3 then d.taken_until_ms
      end as taken_until_ms,
    case
      when not w.is_hinted and d.next_at_ms between c.now_ms + 1 and c.now_ms + w.interval_ms and d.last_run_at_ms <= c.now_ms
      then d.last_run_at_ms - ${lateCommitMs}
      else 0
    end as after_ms
  from supervisor
  cross join clock c
  cross join unnest($5::text[], $6::text[], $7::int8[], $8::bool[]) as w (duty, filter, interval_ms, is_hinted)
  join flowfabric.ff_duty d on d.duty = any (array[w.duty]) and d.filter = any (array[w.filter])
),
earliest as materialized (
  select w.*,
    case w.duty
    ${earliestByDuty.join('\n    ')}
    else case when not w.is_early then 0 end
    end as due_at_ms
  from watched w
),
due as materialized (
  select e.*, (e.is_new or coalesce(e.due_at_ms <= e.now_ms, false)) and e.taken_until_ms is null as is_due
  from earliest e
),
target as materialized (
  select d.duty, d.filter, e.now_ms
  from due e
  join flowfabric.ff_duty d on d.duty = any (array[e.duty]) and d.filter = any (array[e.filter])
  where e.is_due
    and (d.taken_by = $2 or (d.taken_until_ms between e.now_ms + 1 and e.now_ms + $3) is not true)
  order by e.duty
  for no key update of d skip locked
),
taken as (
  update flowfabric.ff_duty d
  set taken_by = $2, taken_until_ms = t.now_ms + $3
  from target t
  where d.duty = t.duty and d.filter = t.filter
  returning d.duty
)
select c.now_ms,
  exists (select from supervisor) as is_polling,
  (select s.taken_until_ms - c.now_ms
    from flowfabric.ff_duty s
    where s.duty = '${supervisorRow}' and s.filter = $1) as others_for_ms,
  (select c.now_ms - p.last_run_at_ms from supervisor p) as polled_ms_ago,
  array(select duty from taken) as taken,
  (select min(greatest(e.due_at_ms, e.taken_until_ms)) - c.now_ms
    from due e
    where not e.is_due and e.due_at_ms is not null) as next_in_ms,
  set_config('synchronous_commit', 'off', true) is not null as is_asynchronous
from clock c`,
})

/** One process with one filter. */
export interface Poller {
  readonly filter: string
  readonly takenBy: string
}

/** A duty that may be taken. */
export interface DutyCandidate {
  readonly duty: string
  readonly filter: string
  readonly intervalMs: number
  /** A hint says that rows have become due, perhaps with a time that is long past. */
  readonly isHinted: boolean
}

export type Polled =
  /** Another process polls, for as long as its term lasts. */
  | { readonly kind: 'waits'; readonly ms: number }
  | {
      readonly kind: 'polled'
      /** By the database's clock. */
      readonly at: number
      /** Null when there was no poll before. Below zero when the clock was set back. */
      readonly lastPollMsAgo: number | null
      /** The names of the duties that are due, which this process has to run now. */
      readonly taken: readonly string[]
      /** Until the next row is due, if it is within the horizon. */
      readonly nextInMs: number | null
    }

/** The row of the poller, and those of its duties. */
export async function registerDuties(sql: Sql, poller: Poller, duties: readonly DutyCandidate[]): Promise<void> {
  await sql.query(register, {
    duties: [supervisorRow, ...duties.map(({ duty }) => duty)],
    filters: [poller.filter, ...duties.map(({ filter }) => filter)],
  })
}

/** `horizonMs`: the next poll comes then at the latest. */
export async function pollDuties(
  sql: Sql,
  { filter, takenBy }: Poller,
  duties: readonly DutyCandidate[],
  horizonMs: number,
): Promise<Polled> {
  const [row] = await sql.query(poll, {
    supervisor_filter: filter,
    taken_by: takenBy,
    term_ms: termMs,
    horizon_ms: horizonMs,
    duties: duties.map(({ duty }) => duty),
    filters: duties.map((candidate) => candidate.filter),
    intervals_ms: duties.map(({ intervalMs }) => intervalMs),
    are_hinted: duties.map(({ isHinted }) => isHinted),
  })
  const { now_ms: at, is_polling, others_for_ms, polled_ms_ago: lastPollMsAgo, taken, next_in_ms: nextInMs } = row!
  if (!is_polling) return { kind: 'waits', ms: Math.max(others_for_ms ?? 0, 0) }
  return { kind: 'polled', at, lastPollMsAgo, taken, nextInMs }
}
