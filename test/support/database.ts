// Databases on a running server.
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface Database {
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

/** Creates a database, empty or a copy of `template`. No session may be connected to the template meanwhile. */
export async function createDatabase(serverUrl: string, name = randomName(), template?: string): Promise<Database> {
  await runOn(serverUrl, `create database ${name} template ${template ?? 'template0'}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => dropDatabases(serverUrl, name) }
}

/** Drops every database whose name starts so, and ends its sessions. */
export async function dropDatabases(serverUrl: string, start: string): Promise<void> {
  const found = await runOn(serverUrl, `select datname as name from pg_database where starts_with(datname, '${start}')`)
  for (const { name } of found) await runOn(serverUrl, `drop database if exists ${name} with (force)`)
}

function randomName(): string {
  return `flowfabric_test_${randomBytes(8).toString('hex')}`
}

export async function runOn(url: string, text: string): Promise<{ name: string }[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(text)
    return rows
  } finally {
    await client.end()
  }
}
