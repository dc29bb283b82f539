// Compares flows that have ended with the model's decision on all of their members and edges. The engine decides on the part of them
// that did not succeed.
import { expect } from 'vitest'
import { flowOutcome, skipReasons, type EndedFlow } from '../../../src/model/flow-ending.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import type { Row } from '../../support/raw.ts'
import { endedFlowsOfTree } from '../../support/reads.ts'

/** Every flow of this tree that has ended and was not cancelled. */
export async function compareWithModel(sql: Sql, root: string): Promise<void> {
  for (const row of await endedFlowsOfTree(sql, root)) {
    const flow = flowOf(row)
    expect(row['outcome'], `flow ${row['flow_id'] as string}`).toBe(flowOutcome(flow))
    const found = (row['members'] as { id: string; ending: string; reason: string | null }[])
      .filter(({ ending }) => ending === 'skipped')
      .map(({ id, reason }) => [id, reason] as const)
    expect(new Map(found)).toEqual(skipReasons(flow, row['is_struck'] === true))
  }
}

function flowOf({ members, edges, joins }: Row): EndedFlow {
  return { members, edges, joins } as unknown as EndedFlow
}
