// Empty databases for the tests of src/sql; handles that they open are closed when the test, or the file, is over.
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import type { Logger } from '../../src/sql/logger.ts'
import { openPostgres, type PostgresOptions } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { createDatabase } from '../support/database.ts'
import { remainingConnections } from '../support/leak.ts'
import { patience } from '../support/patience.ts'

export class Notes implements Logger {
  readonly warnings: string[] = []
  /** Lines below the level of warnings. */
  readonly details: string[] = []
  debug(message: string): void {
    this.details.push(message)
  }
  info(message: string): void {
    this.details.push(message)
  }
  warn(message: string): void {
    this.warnings.push(message)
  }
  error(message: string): void {
    this.warnings.push(message)
  }
}

export interface Blank {
  readonly name: string
  readonly url: string
  open(options?: Partial<PostgresOptions>): Promise<Sql>
}

/** An empty database. Every handle that the test opens on it must be closed, or closes with it. */
export async function blankDatabase(): Promise<Blank> {
  const server = inject('postgres')
  const database = await createDatabase(server.url)
  const opened: Sql[] = []
  onTestFinished(async () => {
    await Promise.all(opened.map((sql) => sql.close()))
    const client = new pg.Client(database.url)
    await client.connect()
    const left = await remainingConnections(client)
    await client.end()
    await database.drop()
    if (left.length > 0) throw new Error(`the test left behind:\n${left.join('\n')}`)
  })
  return {
    name: database.name,
    url: database.url,
    open: async (options) => {
      const sql = await openPostgres({ url: database.url, schema: 'flowfabric', ...options })
      opened.push(sql)
      return sql
    },
  }
}

/** Polls until a fact is true. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patience(15_000)
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`did not come true in time: ${isTrue.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A gate: other code waits for `opened` until the test calls `open`. */
export function newGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
