// Objects of another namespace, and the answer of an operation to them: as if they did not exist.
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Refused } from '../../src/engine/kernel/each-in-place.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { SubmittedGraph } from '../../src/engine/flow/submit-graph.ts'
import type { ErrorCode } from '../../src/model/errors.ts'
import type { ExecutionId, WaitpointId } from '../../src/model/id.ts'
import { refusal } from '../support/refusal.ts'

export interface Foreign {
  readonly executionId: ExecutionId
  /** Its tag, parent and lane, by which a search could find it. */
  readonly parentId: ExecutionId
  readonly partition: string
  /** Its lease, of worker-1. */
  readonly fence: Fence
  readonly waitingId: ExecutionId
  readonly endedId: ExecutionId
  /** A suspended execution: its holder's fence, and everything that could answer it. */
  readonly suspended: Suspended
  /** Two members, `first` and `second`, with an edge between them; the flow accepts more. */
  readonly flow: SubmittedGraph
}

export interface Suspended {
  readonly fence: Fence
  readonly executionId: ExecutionId
  readonly waitpointId: WaitpointId
  readonly token: string
  readonly link: string
}

export type Check = (engine: Engine, foreign: Foreign) => Promise<void>

export const refusedAs =
  (code: ErrorCode, call: (engine: Engine, foreign: Foreign) => Promise<unknown>): Check =>
  async (engine, foreign) => {
    const error = await refusal(code, call(engine, foreign))
    expect(error.status).not.toBe(403)
  }

export const refusedInPlace =
  (
    code: ErrorCode,
    call: (engine: Engine, foreign: Foreign) => Promise<readonly ({ kind: string } | Refused)[]>,
  ): Check =>
  async (engine, foreign) => {
    expect(await call(engine, foreign)).toMatchObject([{ kind: 'refused', error: { code } }])
  }

export const isNull =
  (call: (engine: Engine, foreign: Foreign) => Promise<unknown>): Check =>
  async (engine, foreign) => {
    expect(await call(engine, foreign)).toBeNull()
  }
