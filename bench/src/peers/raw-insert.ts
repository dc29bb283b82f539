// The upper bound of what Postgres stores: a bare table with a key and a payload, and prepared statements. Single rows
// go through one connection for each submitter.
import pg from 'pg'
import { encodePayload } from './payload.ts'
import type { Creating } from './contract.ts'

const table = `create table raw_job (id uuid primary key default uuidv7(), payload bytea not null)`
const insertOne = { name: 'insert-one', text: 'insert into raw_job (payload) values ($1) returning id' }
const insertMany = {
  name: 'insert-many',
  text: 'insert into raw_job (payload) select unnest($1::bytea[]) returning id',
}

const connectionCount = 16

export const rawInsert: Creating = {
  async open(url) {
    const pool = new pg.Pool({ connectionString: url, max: connectionCount })
    await pool.query(table)
    return {
      create: (payload) => pool.query({ ...insertOne, values: [encodePayload(payload)] }),
      createMany: (payloads) => pool.query({ ...insertMany, values: [payloads.map(encodePayload)] }),
      close: () => pool.end(),
    }
  },
}
