// A list with a filter reads the one index that is in its order. Each source is an order and a statement, and the verb picks the
// source by the filter. The statement checks row by row what its index does not decide.
import { createHash } from 'node:crypto'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId, parseExecutionId, parseFlowId, type IdParts } from '../../model/id.ts'
import type { Queries } from '../../sql/sql.ts'
import { firstUuid, orderBy, type KeyColumns, type Order } from './page.ts'

type AnyKey = Readonly<Record<string, string | number>>

export interface ListSource<Filter, Row, Key extends AnyKey = AnyKey> {
  order(filter: Filter): Order<Key, Row>
  /** The rows behind the key, at most `limit`. */
  read(sql: Queries, filter: Filter, after: Key, limit: number): Promise<Row[]>
}

/** Checks a source, and infers its key from its order. */
export function sourceOf<Filter, Row>() {
  return <Key extends AnyKey>(source: ListSource<Filter, Row, Key>): ListSource<Filter, Row> => source
}

/** The order by these columns. Its cursors are valid for one filter: a list with another source or filter refuses them. */
export function filteredOrder<const Columns extends KeyColumns>(name: string, columns: Columns) {
  return (filter: object) => {
    const digest = createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
    return orderBy(`${name} ${digest}`, columns)
  }
}

const ids = {
  execution: { parse: parseExecutionId, format: formatExecutionId },
  flow: { parse: parseFlowId, format: formatFlowId },
}

type IdKey<Noun extends string> = { readonly [Column in `${Noun}_id`]: string }

/** The order of ids within one partition. Its cursor is the last id itself. */
export function partitionOrder<const Noun extends keyof typeof ids>(
  noun: Noun,
  partition: number,
): Order<IdKey<Noun>, IdKey<Noun>> {
  const column = `${noun}_id` as const
  const key = (uuid: string) => ({ [column]: uuid }) as IdKey<Noun>
  return {
    start: key(firstUuid),
    encode: (last) => ids[noun].format(partition, last[column]),
    decode(cursor) {
      const given = parseCursor(noun, cursor)
      if (given.partition === partition) return key(given.uuid)
      const sentence = `the cursor is of partition ${given.partition}, the list of ${partition}; start without a cursor`
      throw new EngineError('invalid_cursor', sentence)
    },
  }
}

function parseCursor(noun: keyof typeof ids, cursor: string): IdParts {
  try {
    return ids[noun].parse(cursor)
  } catch (cause) {
    const sentence = `the cursor of a list by partition is the last ${noun} id of the page before`
    throw new EngineError('invalid_cursor', sentence, {}, { cause })
  }
}
