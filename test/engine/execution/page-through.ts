import type { Engine } from '../../../src/engine/contract.ts'
import type { ListRequest } from '../../../src/engine/execution/list.ts'
import type { Execution } from '../../../src/engine/execution/snapshot.ts'

/** Every execution of a list, page by page; fails when the list does not end. */
export async function pageThrough(engine: Engine, request: ListRequest, limit: number): Promise<Execution[]> {
  const found: Execution[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < 100; pages++) {
    const page = await engine.executions.list({ ...request, limit, ...(cursor === null ? {} : { cursor }) })
    if (page.executions.length > limit) throw new Error(`a page of ${limit} has ${page.executions.length}`)
    found.push(...page.executions)
    cursor = page.nextCursor
    if (cursor === null) return found
  }
  throw new Error('the list does not end')
}

export async function idsOf(engine: Engine, request: ListRequest, limit: number): Promise<string[]> {
  const found = await pageThrough(engine, request, limit)
  return found.map((execution) => execution.executionId)
}
