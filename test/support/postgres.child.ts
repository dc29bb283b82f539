// Starts a server and waits to be killed.
import path from 'node:path'
import pg from 'pg'
import { startPostgres } from './postgres.ts'

const { url } = await startPostgres({ version: 18 })
const client = new pg.Client(url)
await client.connect()
const { rows } = await client.query<{ data_directory: string }>('show data_directory')
await client.end()
process.send!({ url, home: path.dirname(rows[0]!.data_directory) })
process.once('message', () => {})
