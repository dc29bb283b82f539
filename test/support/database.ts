// Databases on a running server, made and dropped in some 30 ms.
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface Database {
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

/** A database of its own, empty or a copy of `template`, which nobody may be connected to. */
export async function createDatabase(serverUrl: string, name = randomName(), template?: string): Promise<Database> {
  const source = template === undefined ? 'template0' : template
  await runOn(serverUrl, `create database ${name} template ${source}`)
  return {
    name,
    url: urlOf(serverUrl, name),
    drop: () => runOn(serverUrl, `drop database if exists ${name} with (force)`),
  }
}

export function randomName(): string {
  return `flowfabric_test_${randomBytes(8).toString('hex')}`
}

function urlOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function runOn(url: string, text: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
