// The database through a connection of the caller, inside the transaction that the caller began and will end. Calls
// that belong together run between a savepoint and its release: a statement that fails undoes nothing of the caller's,
// and may be sent again. The caller's settings decide how long a statement waits for a lock.
import { borrowClient, type BorrowedClient, type TransactionClient } from './borrowed-client.ts'
import { encode } from './encode.ts'
import { DatabaseError, isConnectionLost, sqlState } from './errors.ts'
import { Mutex } from './mutex.ts'
import { qualifier } from './qualify.ts'
import { call, type ReservedSql, type Call, type Sql } from './sql.ts'
import type { Statement } from './statement.ts'

/** Calls on one connection run one after the other, because savepoints nest. */
const turns = new WeakMap<object, Mutex>()

export function borrow(given: TransactionClient, schema: string): Sql {
  const client = reportingLoss(borrowClient(given))
  const textOf = qualifier(schema)
  const turn = turns.get(client.identity) ?? new Mutex()
  turns.set(client.identity, turn)
  const perform = async (calls: readonly Call[]): Promise<unknown[][]> => {
    const answers: unknown[][] = []
    for (const one of calls) answers.push(await send(client, textOf, one))
    return answers
  }
  const together = <T>(work: () => Promise<T>): Promise<T> => turn.run(() => inSavepoint(client, work))
  const reserved: ReservedSql = {
    query: async (statement, values) => (await together(() => perform([call(statement, values)])))[0] as never,
    pipeline: async (calls) => (await together(() => perform(calls))) as never,
  }
  return {
    kind: 'postgres',
    schema,
    ...reserved,
    reserved,
    decide: async (reads, decide) =>
      (await together(async () => perform(decide((await perform(reads)) as never)))) as never,
    script: () => refuse('a script'),
    transaction: () => refuse('a transaction'),
    listen: () => refuse('a subscription'),
    close: async () => {},
  }
}

/** The caller's transaction ended with its connection, so none of its writes happened. */
function reportingLoss(client: BorrowedClient): BorrowedClient {
  const orLost = (error: unknown): never => {
    if (!isClientLost(error)) throw error
    const sentence = `The connection of your transaction was lost: ${(error as Error).message}`
    const hint = 'The transaction was rolled back; begin it again on another connection.'
    throw new DatabaseError('connection_lost', sentence, hint, error)
  }
  return { identity: client.identity, query: (...given) => client.query(...given).catch(orLost) }
}

const systemCodes = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN', 'ERR_STREAM_DESTROYED']

/** The messages of `pg` for a lost connection; some have no code. */
function isClientLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof DatabaseError) return false
  if (sqlState(error) !== undefined) return isConnectionLost(error)
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && systemCodes.includes(code)) return true
  return /connection terminated|not queryable|client was closed|connection ended/i.test(error.message)
}

function send(client: BorrowedClient, textOf: (statement: Statement) => string, { statement, values }: Call) {
  return client.query(textOf(statement), encode(statement, values), statement.row)
}

const savepoint = 'flowfabric_within'

async function inSavepoint<T>(client: BorrowedClient, work: () => Promise<T>): Promise<T> {
  await client.query(`savepoint ${savepoint}`, [], {}).catch((error: unknown) => {
    throw asTransactionFault(error)
  })
  try {
    const result = await work()
    await client.query(`release savepoint ${savepoint}`, [], {})
    return result
  } catch (error) {
    await undo(client).catch(() => {}) // then the transaction is lost, and its next statement fails
    throw error
  }
}

async function undo(client: BorrowedClient): Promise<void> {
  await client.query(`rollback to savepoint ${savepoint}`, [], {})
  await client.query(`release savepoint ${savepoint}`, [], {})
}

function asTransactionFault(error: unknown): unknown {
  const state = sqlState(error)
  if (state === '25P01') {
    const sentence = 'The client is not in a transaction'
    return new DatabaseError('no_transaction', sentence, 'Send begin first, or call this inside a transaction.', error)
  }
  if (state === '25P02') {
    const sentence = 'The transaction has already failed, because of an earlier statement'
    return new DatabaseError('no_transaction', sentence, 'Roll it back and begin a new one.', error)
  }
  return error
}

function refuse(what: string): Promise<never> {
  const sentence = `You cannot open ${what} inside your own transaction`
  return Promise.reject(new DatabaseError('nested_query', sentence, 'Use ff.engine instead.'))
}
