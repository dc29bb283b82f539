import type { Executions, ListRequest } from '../../../src/index.ts'
import { pageSize } from './kinds.ts'

const mostSteps = 10
const stepSize = 1000

/** A cursor in the middle of a list, but not more than 10,000 rows in; reached page by page, as a caller would. */
export async function deepCursor(executions: Executions, request: ListRequest): Promise<string> {
  const cursors: string[] = []
  const first = await executions.list({ ...request, limit: stepSize })
  if (first.nextCursor === null) return shallowCursor(executions, request, first.executions.length)
  let cursor: string | null = first.nextCursor
  while (cursor !== null && cursors.length < mostSteps) {
    cursors.push(cursor)
    const page = await executions.list({ ...request, limit: stepSize, cursor })
    cursor = page.nextCursor
  }
  return cursor === null ? cursors[cursors.length >> 1]! : cursors.at(-1)!
}

async function shallowCursor(executions: Executions, request: ListRequest, count: number): Promise<string> {
  const middle = Math.floor((count - pageSize) / 2)
  if (middle < 1) throw new Error(`the list ${JSON.stringify(request)} has ${count} executions, too few for two pages`)
  const { nextCursor } = await executions.list({ ...request, limit: middle })
  return nextCursor!
}
