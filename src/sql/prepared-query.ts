// Sends prepared statements and reads their replies, in place of pg's own query. One sync ends them all: the server
// runs them as one transaction, and after a statement that it refuses it runs none of the others. With a sync for each,
// as pg sends queries, a cancelled begin would leave the others to run without it.
//
// The columns of a prepared statement are described once on each connection and cached: the server refuses to run a
// statement whose columns have changed. Describing it every time, as pg does, takes a tenth of a claim of one
// (measured). A pooler that supports names prepares a statement anew on each of its server connections, where the
// columns may differ: behind a pooler nothing is cached.
import pg from 'pg'
import { decoderOf } from './decode.ts'
import type { EncodedValue } from './encode.ts'
import type { Prepared } from './prepare.ts'

/** `failedAt`: the index of the refused call; the number of calls when none of them was. */
type Answered = (error: Error | null, rows: unknown[][], failedAt: number) => void
type DecodedRow = Record<string, unknown>

interface RowColumn {
  readonly name: string
  readonly decode: (text: string) => unknown
}

interface RowShape {
  readonly columns: readonly RowColumn[]
  /** Rows are copies of one row without values, so that all have one hidden class. */
  readonly empty: DecodedRow
}

interface RowField {
  readonly name: string
  readonly dataTypeID: number
}

/** A connection of pg, with the members that its types leave out. */
interface PgConnection {
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
  parse(query: { text: string; name: string | undefined }): void
  bind(config: { statement: string | undefined; values: readonly EncodedValue[]; valueMapper: typeof inBuffer }): void
  describe(of: { type: 'P' }): void
  execute(config: object): void
  sync(): void
}

/** The cached shapes of each connection; null for a connection to a pooler. */
const shapes = new WeakMap<object, Map<string, RowShape> | null>()

/** Marks the connection as one to a pooler. */
export function leadsToPooler({ connection }: { readonly connection: object }): void {
  shapes.set(connection, null)
}

export interface PreparedCall {
  readonly prepared: Prepared
  readonly values: readonly EncodedValue[]
}

interface SentCall {
  /** Undefined also when it is sent without its name. */
  readonly name: string | undefined
  readonly text: string
  shape: RowShape | undefined
  readonly rows: DecodedRow[]
}

/** Implements the query interface of pg: its client calls the methods. */
export class PreparedSet extends pg.Query {
  /** Read by pg: the name of the statement whose reply comes next. */
  name: string | undefined
  text = ''
  readonly callback: Answered
  readonly #calls: readonly PreparedCall[]
  readonly #sent: SentCall[] = []
  #answered = 0
  #known: Map<string, RowShape> | null = null
  #failure: Error | undefined

  constructor(calls: readonly PreparedCall[], answered: Answered) {
    super('')
    this.#calls = calls
    this.callback = answered
  }

  override submit = (connection: pg.Connection): null => {
    const wire = connection as unknown as PgConnection
    this.#known = shapesOf(wire)
    for (const { prepared, values } of this.#calls) this.#sent.push(this.#send(wire, prepared, values))
    wire.sync()
    this.#expect(0)
    return null
  }

  #send(wire: PgConnection, { name: given, text }: Prepared, values: readonly EncodedValue[]): SentCall {
    const { parsedStatements, submittedNamedStatements } = wire
    // A preparation without a reply may still fail, and would take other statements down with it.
    const name = given !== undefined && submittedNamedStatements[given] !== undefined ? undefined : given
    let shape: RowShape | undefined
    if (name !== undefined && parsedStatements[name] !== undefined) shape = this.#known?.get(name)
    else {
      wire.parse({ text, name })
      if (name !== undefined) submittedNamedStatements[name] = text
    }
    wire.bind({ statement: name, values, valueMapper: inBuffer })
    if (shape === undefined) wire.describe({ type: 'P' })
    wire.execute({})
    return { name, text, shape, rows: [] }
  }

  #expect(next: number): void {
    this.#answered = next
    this.name = this.#sent[next]?.name
    this.text = this.#sent[next]?.text ?? ''
  }

  handleRowDescription({ fields }: { readonly fields: readonly RowField[] }): void {
    this.#remember(fields)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failure !== undefined) return
    const { rows, shape } = this.#sent[this.#answered]!
    try {
      rows.push(read(fields, shape!))
    } catch (error) {
      this.#failure = error as Error
    }
  }

  handleCommandComplete(): void {
    // A statement without rows has no description.
    if (this.#sent[this.#answered]!.shape === undefined) this.#remember([])
    this.#expect(this.#answered + 1)
  }

  handleReadyForQuery(): void {
    const rows = this.#sent.map((one) => one.rows)
    this.callback(this.#failure ?? null, rows, this.#answered)
  }

  handleError(error: Error, { submittedNamedStatements }: PgConnection): void {
    for (const { name } of this.#sent.slice(this.#answered)) {
      if (name !== undefined) delete submittedNamedStatements[name]
    }
    this.callback(error, [], this.#answered)
  }

  #remember(fields: readonly RowField[]): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }))
    const shape = { columns, empty: Object.fromEntries(fields.map(({ name }) => [name, null])) }
    const one = this.#sent[this.#answered]!
    one.shape = shape
    if (one.name !== undefined) this.#known?.set(one.name, shape)
  }
}

function shapesOf(wire: PgConnection): Map<string, RowShape> | null {
  const known = shapes.get(wire)
  if (known !== undefined) return known
  const made = new Map<string, RowShape>()
  shapes.set(wire, made)
  return made
}

function read(fields: readonly (string | null)[], { columns, empty }: RowShape): DecodedRow {
  // The statement has run, so the caller gets a lost reply. The connection is dropped.
  if (fields.length !== columns.length)
    throw new Error('the result has different columns than when the statement was prepared')
  const row = { ...empty }
  for (let place = 0; place < columns.length; place += 1) {
    const { name, decode } = columns[place]!
    const text = fields[place]!
    if (text !== null) row[name] = decode(text)
  }
  return row
}

// Bytes are sent as they are; pg expects a Buffer.
function inBuffer(value: EncodedValue): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
