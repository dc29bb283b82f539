// An empty database, and helpers that open and query it during a test.
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { connect, type ConnectOptions } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { createDatabase } from '../support/database.ts'

export async function emptyDatabase(): Promise<string> {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  return database.url
}

export async function open(url: string, options?: ConnectOptions): Promise<FlowFabric> {
  const ff = await connect(url, options)
  onTestFinished(() => ff.close())
  return ff
}

export async function run(url: string, ...texts: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const results = []
    for (const text of texts) results.push(await client.query(text))
    return results
  } finally {
    await client.end()
  }
}
