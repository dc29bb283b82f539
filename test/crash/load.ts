// Processes under load, and the answers that they received from the engine.
import { expect } from 'vitest'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { formatExecutionId, type ExecutionId } from '../../src/model/id.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { startChild } from '../support/child.ts'
import type { Said } from './said.ts'
import * as stored from '../support/stored.ts'

export interface Load {
  readonly created: ReadonlySet<ExecutionId>
  readonly completed: ReadonlySet<ExecutionId>
  /** Resolves when the process has completed so many more executions. */
  completedMore(count: number): Promise<void>
  /** Stops submitting, finishes the remaining work, and ends. */
  finish(): Promise<void>
  kill(): Promise<void>
}

export function startLoad(url: string, name: string): Load {
  const child = startChild(new URL('./load.child.ts', import.meta.url), { args: [url, name] })
  const created = new Set<ExecutionId>()
  const completed = new Set<ExecutionId>()

  async function hear(): Promise<void> {
    const said = (await child.next()) as Said
    if ('created' in said) created.add(said.created)
    else completed.add(said.completed)
  }

  /** The messages before the end; the error is the end itself, with the printed output. */
  async function hearTheRest(): Promise<unknown> {
    for (;;) {
      try {
        await hear()
      } catch (error) {
        return error
      }
    }
  }

  return {
    created,
    completed,
    async completedMore(count) {
      const enough = completed.size + count
      while (completed.size < enough) await hear()
    },
    async finish() {
      child.send({ finish: true })
      const end = await hearTheRest()
      expect(await child.ended, String(end)).toBe(0)
    },
    async kill() {
      await child.kill('SIGKILL')
      await hearTheRest()
    },
  }
}

/**
 * Checks that every created execution exists and ended once, and that every answer was true. Returns the executions.
 */
export async function expectAllEnded(sql: Sql, loads: readonly Load[]): Promise<Set<ExecutionId>> {
  const found = await stored.executions.pick(sql, ['partition_key', 'execution_id', 'public_state'])
  const states = new Map(
    found.map((row) => [formatExecutionId(row['partition_key'], row['execution_id']), row['public_state']]),
  )
  for (const load of loads) {
    for (const executionId of load.created) expect(states.has(executionId)).toBe(true)
    for (const executionId of load.completed) expect(states.get(executionId)).toBe('completed')
  }
  for (const state of states.values()) expect(['completed', 'failed']).toContain(state)
  const endings = await stored.endings.pick(sql, ['execution_id'])
  expect(endings).toHaveLength(states.size)
  expect(new Set(endings.map((row) => row['execution_id'])).size).toBe(states.size)
  expect(await checkInvariants(sql)).toEqual([])
  return new Set(states.keys())
}
