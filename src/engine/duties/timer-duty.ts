// The frame of a duty on executions that have a timer: it reads the ids of those whose timer has passed, locks them, reads them again
// under the lock, decides in this process, and writes. Executions that others have locked stay due.
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { Call, RowsOf, Sql } from '../../sql/sql.ts'
import { dueExecutions, releaseCall, type Timer } from '../kernel/due.ts'
import type { Duty } from '../kernel/duty.ts'
import { decideRows, runDuty, type DutySet } from '../kernel/run-duty.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { lockedExecutions, readLockedCall } from '../transition/read-locked.ts'
import { transitionCalls, transitionEffects, type Transition } from '../transition/transitions.ts'

export interface TimerDuty {
  readonly name: string
  readonly timer: Timer
  readonly intervalMs: number
  /** The most executions of a set. */
  readonly largestBatch?: number
  readonly act: (sql: Sql, uuids: readonly string[]) => Promise<DutySet>
}

export function timerDuty({ name, timer, intervalMs, largestBatch = Infinity, act }: TimerDuty): Duty {
  const due = dueExecutions(name, timer)
  return {
    name,
    watch: { column: timer.column, isPrompt: true },
    intervalMs,
    runOnce: (sql, options) => runDuty(sql, { name, due, act, largestBatch }, options),
  }
}

export interface DecidedBy<Reads extends readonly Call[]> {
  readonly duty: string
  /** Locks more than the executions; by default these alone. */
  readonly lock?: (uuids: readonly string[]) => Call<{ readonly execution_id: 'uuid' }>
  /** Sent after the lock. */
  readonly reads: (uuids: readonly string[]) => Reads
  /** The transitions of those whose timer has still passed. */
  readonly decide: (executions: readonly LockedExecution[], rows: RowsOf<Reads>) => readonly Transition[]
}

/** What a duty does to a set of executions, decided from the locked rows. */
export function decidedBy<const Reads extends readonly Call[]>({
  duty,
  lock = lockSetCall,
  reads,
  decide,
}: DecidedBy<Reads>): TimerDuty['act'] {
  return async (sql, uuids) => {
    let transitions: readonly Transition[] = []
    await sql.decide([lock(uuids), readLockedCall(uuids), ...reads(uuids)], ([locked, rows, ...more]) => {
      const executions = [...lockedExecutions(locked, rows).values()]
      transitions = decideRows(() => decide(executions, more))
      const processed = transitions.map(({ execution }) => execution.uuid)
      return [...transitionCalls(transitions), releaseCall(duty, processed)]
    })
    return { seen: uuids.length, processed: transitions.length, effects: transitionEffects(transitions) }
  }
}
