// The contract: nouns, then verbs. Every operation runs for a caller; `as` gives the same engine bound to another.
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId, FlowId } from '../model/id.ts'
import { show } from '../model/text.ts'
import type { Sql } from '../sql/sql.ts'
import { bindCaller, localCaller, type Caller, type CallerOptions } from './caller.ts'
import { serverTime } from './clock/server-time.ts'
import {
  cancelOperation,
  checkCancelRequest,
  type Cancellation,
  type CancelRequest,
  type CancelResult,
} from './execution/cancel.ts'
import { countByState, type CountRequest, type StateCounts } from './execution/count.ts'
import { checkCreateRequest, type CreateRequest, type NewExecution } from './execution/create-request.ts'
import { createKeyed, createUnkeyed, type CreateResult } from './execution/create.ts'
import { describe } from './execution/describe.ts'
import { getNamespace } from './execution/get-namespace.ts'
import { getTag } from './execution/get-tag.ts'
import { list, type ExecutionPage, type ListRequest } from './execution/list.ts'
import { resolveFlowId } from './execution/resolve-flow-id.ts'
import { result, type ExecutionResult } from './execution/result.ts'
import { setTag } from './execution/set-tag.ts'
import type { Execution } from './execution/snapshot.ts'
import { asEngineError, inOurWords } from './failure.ts'
import { listLanes, type LanePage, type ListLanesRequest } from './lane/list.ts'
import { Merger } from './merge.ts'
import { QueueRegistry } from './queue/intern.ts'

/** One item of a set that was refused, in its place among the answers. */
export interface Refused {
  readonly kind: 'refused'
  readonly error: EngineError
}

export interface Engine {
  readonly executions: Executions
  readonly lanes: Lanes
  /** The same engine, bound to a namespace (or `'*'`) and to who acts. */
  as(caller: CallerOptions): Engine
  /** The clock that decides, in milliseconds since 1970. */
  serverTime(): Promise<number>
}

export interface Executions {
  /** Accepts one unit of work. Concurrent calls share a round trip. */
  create(request: CreateRequest): Promise<CreateResult>
  /** Accepts many. Answers in order; a bad one is refused in its place and holds up none of the others. */
  createMany(requests: readonly CreateRequest[]): Promise<(CreateResult | Refused)[]>
  cancel(request: CancelRequest): Promise<CancelResult>
  cancelMany(requests: readonly CancelRequest[]): Promise<(CancelResult | Refused)[]>
  describe(executionId: ExecutionId): Promise<Execution | null>
  result(executionId: ExecutionId): Promise<ExecutionResult | null>
  list(request?: ListRequest): Promise<ExecutionPage>
  countByState(request?: CountRequest): Promise<StateCounts>
  resolveFlowId(executionId: ExecutionId): Promise<FlowId | null>
  getNamespace(executionId: ExecutionId): Promise<string | null>
  setTag(executionId: ExecutionId, key: string, value: string): Promise<void>
  getTag(executionId: ExecutionId, key: string): Promise<string | null>
}

export interface Lanes {
  list(request?: ListLanesRequest): Promise<LanePage>
}

export function createEngine(sql: Sql): Engine {
  const queues = new QueueRegistry(sql)
  const operations: Operations = {
    sql: inOurWords(sql),
    createUnkeyed: new Merger(sql, createUnkeyed(sql, queues)),
    createKeyed: new Merger(sql, createKeyed(sql, queues)),
    cancel: new Merger(sql, cancelOperation(sql)),
  }
  return engineFor(operations, localCaller)
}

/** What all callers of one engine share. */
interface Operations {
  readonly sql: Sql
  readonly createUnkeyed: Merger<NewExecution, CreateResult>
  readonly createKeyed: Merger<NewExecution, CreateResult>
  readonly cancel: Merger<Cancellation, CancelResult>
}

function engineFor(operations: Operations, caller: Caller): Engine {
  const { sql, cancel } = operations
  const mergerOf = (item: NewExecution) =>
    item.minted && item.idempotencyKey === null ? operations.createUnkeyed : operations.createKeyed
  return {
    as: (options) => engineFor(operations, bindCaller(caller, options)),
    serverTime: () => serverTime(sql),
    executions: {
      async create(request) {
        const item = checkCreateRequest(caller, request)
        return mergerOf(item).one(item)
      },
      createMany: (requests) =>
        eachInPlace(
          requests,
          (request) => checkCreateRequest(caller, request),
          (item, settle) => mergerOf(item).add(item, settle),
        ),
      async cancel(request) {
        return cancel.one(checkCancelRequest(caller, request))
      },
      cancelMany: (requests) =>
        eachInPlace(
          requests,
          (request) => checkCancelRequest(caller, request),
          (item, settle) => cancel.add(item, settle),
        ),
      describe: (executionId) => describe(sql, caller, executionId),
      result: (executionId) => result(sql, caller, executionId),
      list: (request = {}) => list(sql, caller, request),
      countByState: (request = {}) => countByState(sql, caller, request),
      resolveFlowId: (executionId) => resolveFlowId(sql, caller, executionId),
      getNamespace: (executionId) => getNamespace(sql, caller, executionId),
      setTag: (executionId, key, value) => setTag(sql, caller, executionId, key, value),
      getTag: (executionId, key) => getTag(sql, caller, executionId, key),
    },
    lanes: {
      list: (request = {}) => listLanes(sql, caller, request),
    },
  }
}

// One promise for the whole call: at a thousand items, one for each would cost more than checking them.
function eachInPlace<Request, Item, Answer>(
  requests: readonly Request[],
  check: (request: Request) => Item,
  send: (item: Item, settle: (outcome: Answer | EngineError) => void) => void,
): Promise<(Answer | Refused)[]> {
  return new Promise((resolve) => {
    if (!Array.isArray(requests)) throw refusal('invalid_input', 'the requests', show(requests), 'an array')
    const answers = Array.from<Answer | Refused>({ length: requests.length })
    let open = requests.length
    if (open === 0) resolve(answers)
    // By index, because a hole in the array is an item too.
    for (let index = 0; index < requests.length; index++) {
      const settle = (outcome: Answer | EngineError) => {
        answers[index] = EngineError.is(outcome) ? { kind: 'refused', error: outcome } : outcome
        open--
        if (open === 0) resolve(answers)
      }
      try {
        send(check(requests[index] as Request), settle)
      } catch (error) {
        settle(asEngineError(error))
      }
    }
  })
}
