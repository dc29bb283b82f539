// The Postgres that is measured: version 18 as npm ships it, its own defaults for durability and memory, and a database
// of its own for each contestant of each round, so that no contestant sees the rows of another.
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres.ts'

export interface Server {
  readonly version: string
  /** Of its data. */
  readonly directory: string
  createDatabase(): Promise<Database>
  /** So that no contestant pays for the pages that another made dirty. */
  checkpoint(): Promise<void>
  /** How many bytes of write-ahead log were ever written. */
  logPosition(): Promise<number>
  stop(): Promise<void>
}

export interface Database {
  readonly url: string
  /** Whether writes to it go to this server's log. */
  readonly isOnServer: boolean
  drop(): Promise<void>
}

export async function startServer(): Promise<Server> {
  const postgres = await startPostgres({ version: 18, durable: true })
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  let databaseCount = 0

  async function ask(text: string): Promise<string> {
    const { rows } = await admin.query<{ answer: string }>(text)
    return rows[0]!.answer
  }

  async function refuseWeakCommits(): Promise<void> {
    const settings = await ask(`select current_setting('fsync') || current_setting('synchronous_commit') as answer`)
    if (settings !== 'onon') throw new Error('Postgres runs without durable commits; the figures would mean nothing')
  }

  await refuseWeakCommits()
  return {
    version: await ask(`select current_setting('server_version') as answer`),
    directory: await ask(`select current_setting('data_directory') as answer`),
    async createDatabase() {
      const name = `bench_${++databaseCount}`
      await admin.query(`create database ${name}`)
      const url = new URL(postgres.url)
      url.pathname = name
      return {
        url: url.href,
        isOnServer: true,
        drop: async () => void (await admin.query(`drop database ${name} with (force)`)),
      }
    },
    checkpoint: async () => void (await admin.query('checkpoint')),
    logPosition: async () => Number(await ask(`select pg_current_wal_insert_lsn() - '0/0' as answer`)),
    async stop() {
      await admin.end()
      await postgres.stop()
    },
  }
}
