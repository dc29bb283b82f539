// The operations that put requests into the sets of create. Each request is joined with its task before it enters a set, so that
// a set which is sent again writes the same rows.
import type { Caller } from '../kernel/caller.ts'
import type { Refused } from '../kernel/each-in-place.ts'
import { eachInPlace } from '../kernel/each-in-place.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Merger } from '../kernel/merge.ts'
import type { TaskRegistry } from '../task/registry.ts'
import type { CreateResult } from './create-answer.ts'
import { checkCreateRequest, type CreateRequest } from './create-request.ts'
import type { CheckedExecution, NewExecution } from '../transition/new-execution.ts'

type Creates = Merger<NewExecution, CreateResult>

interface CreateDeps {
  readonly tasks: TaskRegistry
  readonly createUnkeyed: Creates
  readonly createKeyed: Creates
  readonly createChildren: Creates
}

export function createOperations({ tasks, createUnkeyed, createKeyed, createChildren }: CreateDeps) {
  const mergerOf = (item: NewExecution): Creates => {
    if (item.parent !== null) return createChildren
    return isUnkeyed(item) ? createUnkeyed : createKeyed
  }
  const check = (caller: Caller, request: CreateRequest): CheckedExecution | NewExecution => {
    const item = checkCreateRequest(caller, request)
    return tasks.resolveNow(item) ?? item
  }
  return {
    // One promise for each call while its task is known: an async function would make another.
    create: (caller: Caller, request: CreateRequest): Promise<CreateResult> => {
      try {
        const item = check(caller, request)
        if (isResolved(item)) return mergerOf(item).one(item)
        return tasks.resolve(item).then((found) => mergerOf(found).one(found), throwAsEngineError)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    createMany: (caller: Caller, requests: readonly CreateRequest[]): Promise<(CreateResult | Refused)[]> =>
      eachInPlace(
        requests,
        (request) => check(caller, request),
        (item, settle: Parameters<Creates['add']>[1]) => {
          if (isResolved(item)) return mergerOf(item).add(item, settle)
          tasks.resolve(item).then(
            (found) => mergerOf(found).add(found, settle),
            (error: unknown) => settle(asEngineError(error)),
          )
        },
      ),
  }
}

function isResolved(item: CheckedExecution | NewExecution): item is NewExecution {
  return 'applied' in item
}

// Its id was minted by this process, and it has no key: no row in the database can conflict with it.
function isUnkeyed(item: NewExecution): boolean {
  return item.minted && item.idempotencyKey === null
}

function throwAsEngineError(error: unknown): never {
  throw asEngineError(error)
}
