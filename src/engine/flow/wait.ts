// Waits for the end of a flow. A hint tells of it at once; a poll is the guarantee where hints do not come.
import { abortSignal } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { wait } from '../../model/named-fields.ts'
import { EngineError } from '../../model/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleFlow } from '../kernel/visible.ts'
import type { Hints } from '../kernel/hint.ts'
import { outlast } from '../kernel/outlast.ts'
import { describeFlow, type FlowDetail } from './describe.ts'

export const waitForFlowFields = {
  /** Left out: as long as it takes. */
  timeout: wait.optional().describe('A minute at most; defaults to 30 s.'),
  /** Ends the wait, with the signal's reason. */
  signal: abortSignal(),
}

export interface WaitForFlowRequest extends RequestOf<typeof waitForFlowFields> {}

// Between two polls: short at first, because a short flow may end before its hint can arrive.
const firstPollMs = 20
const longestPollMs = 500

const readEnd = statement({
  name: 'flow.wait',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { ended_at_ms: 'int8?' },
  text: `
select ended_at_ms
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})

/** The flow as it ended. A cancelled one ends when its last member has. */
export async function waitForFlow(
  sql: Sql,
  hints: Hints,
  caller: Caller,
  flowId: string,
  request: WaitForFlowRequest = {},
): Promise<FlowDetail> {
  const { timeoutMs: givenMs, signal } = checkFields('flows.wait', waitForFlowFields, request)
  const target = visibleFlow(caller, flowId)
  const timeoutMs = givenMs ?? Infinity
  const waitUntil = performance.now() + timeoutMs
  const readEnded = async (): Promise<FlowDetail | null> => {
    const [found] = await sql.query(readEnd, target)
    if (found === undefined) throw new EngineError('flow_not_found', `flow ${flowId} does not exist`, { flowId })
    const flow = found.ended_at_ms === null ? null : await describeFlow(sql, caller, flowId)
    // A replay may have reopened it in between; then it has not ended.
    return flow !== null && flow.endedAt !== null ? flow : null
  }
  const watch = hints.watchFlow(target.flow_id)
  try {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
      signal?.throwIfAborted()
      const flow = await outlast({ until: waitUntil, signal }, readEnded)
      if (flow !== null) return flow
      const leftMs = waitUntil - performance.now()
      if (leftMs <= 0) throw timedOut(flowId, timeoutMs)
      await watch.next(Math.min(leftMs, pollMs), signal)
    }
  } finally {
    watch.end()
  }
}

function timedOut(flowId: string, timeoutMs: number): EngineError {
  const sentence = `flow ${flowId} did not finish within ${timeoutMs} ms and is still open; wait again, or read it with flows.describe`
  return new EngineError('wait_timed_out', sentence, { flowId, timeoutMs })
}
