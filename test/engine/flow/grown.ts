// A flow that grows in a test: members whose kind is their name, added one by one.
import type { Engine } from '../../../src/engine/contract.ts'
import type { ConnectRequest } from '../../../src/engine/flow/connect-request.ts'
import type { Connected } from '../../../src/engine/flow/connect.ts'
import { parseExecutionId, parseFlowId, type ExecutionId, type FlowId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import type { Row } from '../../support/raw.ts'
import * as stored from '../../support/stored.ts'

export interface Grown {
  readonly flowId: FlowId
  readonly ids: Readonly<Record<string, ExecutionId>>
  /** `a > b`, with further fields of the edge. */
  connect(edge: string, more?: Partial<ConnectRequest>): Promise<Connected>
}

export async function grown(engine: Engine, names: readonly string[]): Promise<Grown> {
  const { flowId } = await engine.flows.create({ kind: 'pipeline' })
  const ids: Record<string, ExecutionId> = {}
  for (const name of names) {
    ids[name] = (await engine.flows.addMember({ flowId, name, execution: { kind: name } })).executionId
  }
  return {
    flowId,
    ids,
    connect: (edge, more = {}) => {
      const [upstream, , downstream] = edge.split(' ')
      return engine.flows.connect({ flowId, upstream: ids[upstream!]!, downstream: ids[downstream!]!, ...more })
    },
  }
}

export async function flowRow(sql: Sql, flowId: FlowId): Promise<Row> {
  const { uuid } = parseFlowId(flowId)
  return (await stored.flows.all(sql, { flow_id: uuid }))[0]!
}

export async function groupRow(sql: Sql, executionId: ExecutionId): Promise<Row | undefined> {
  const { uuid } = parseExecutionId(executionId)
  return (await stored.edgeGroups.all(sql, { downstream_id: uuid }))[0]
}
