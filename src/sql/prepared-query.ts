// A statement on its way to the server, and the reader of its answer, in the place of pg's own query.
//
// What columns a prepared statement has is asked once on each connection and remembered: the server refuses to run one whose
// columns have changed. Asked every time, as pg does, it takes a tenth of a claim of one (measured). A pooler that knows names
// prepares one anew on each of its server's connections, where the columns may be others: behind it nothing is remembered.
import pg from 'pg'
import { decoderOf } from './decode.ts'
import type { Encoded } from './encode.ts'
import type { Prepared } from './prepare.ts'

type Answered = (error: Error | null, rows: unknown[]) => void
type Row = Record<string, unknown>

interface Column {
  readonly name: string
  readonly decode: (text: string) => unknown
}

interface Shape {
  readonly columns: readonly Column[]
  /** Rows are copies of one row without values, so that all have one hidden class. */
  readonly empty: Row
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** A connection as pg has it; its types leave out a part. */
interface Wire {
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
  parse(query: { text: string; name: string | undefined }): void
  bind(config: { statement: string | undefined; values: readonly Encoded[]; valueMapper: typeof inBuffer }): void
  describe(of: { type: 'P' }): void
  execute(config: object): void
  sync(): void
}

/** Of connections on which shapes are remembered, and null of those to a pooler. */
const shapes = new WeakMap<object, Map<string, Shape> | null>()

/** What its connection leads to is a pooler. */
export function leadsToPooler({ connection }: { readonly connection: object }): void {
  shapes.set(connection, null)
}

/** By pg's rules for what it is given in the place of its own: the methods are called by its client. */
export class PreparedQuery extends pg.Query {
  /** Undefined, too, when it goes without the name that it was given. */
  name: string | undefined
  readonly text: string
  readonly callback: Answered
  readonly values: readonly Encoded[]
  readonly #found: Row[] = []
  #known: Map<string, Shape> | null = null
  #shape: Shape | undefined
  #failure: Error | undefined

  constructor({ text, name }: Prepared, values: readonly Encoded[], answered: Answered) {
    super(text)
    this.text = text
    this.name = name
    this.callback = answered
    this.values = values
  }

  override submit = (connection: pg.Connection): null => {
    const wire = connection as unknown as Wire
    const { parsedStatements, submittedNamedStatements } = wire
    // Sent and not answered, its preparation may yet fail, and would take down what relies on it.
    if (this.name !== undefined && submittedNamedStatements[this.name] !== undefined) this.name = undefined
    this.#known = shapesOf(wire)
    if (this.name !== undefined && parsedStatements[this.name] !== undefined) {
      this.#shape = this.#known?.get(this.name)
    } else {
      wire.parse({ text: this.text, name: this.name })
      if (this.name !== undefined) submittedNamedStatements[this.name] = this.text
    }
    wire.bind({ statement: this.name, values: this.values, valueMapper: inBuffer })
    if (this.#shape === undefined) wire.describe({ type: 'P' })
    wire.execute({})
    wire.sync()
    return null
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#learn(fields)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failure !== undefined) return
    try {
      this.#found.push(read(fields, this.#shape!))
    } catch (error) {
      this.#failure = error as Error
    }
  }

  handleCommandComplete(): void {
    // One that gives no rows has no description.
    if (this.#shape === undefined) this.#learn([])
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure ?? null, this.#found)
  }

  handleError(error: Error): void {
    this.callback(error, [])
  }

  #learn(fields: readonly Field[]): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }))
    this.#shape = { columns, empty: Object.fromEntries(fields.map(({ name }) => [name, null])) }
    if (this.name !== undefined) this.#known?.set(this.name, this.#shape)
  }
}

function shapesOf(wire: Wire): Map<string, Shape> | null {
  const known = shapes.get(wire)
  if (known !== undefined) return known
  const made = new Map<string, Shape>()
  shapes.set(wire, made)
  return made
}

function read(fields: readonly (string | null)[], { columns, empty }: Shape): Row {
  // To its caller a lost reply, since the statement has run; the connection, which knows so little, is given up.
  if (fields.length !== columns.length) throw new Error('the answer has other columns than its statement had before')
  const row = { ...empty }
  for (let place = 0; place < columns.length; place += 1) {
    const { name, decode } = columns[place]!
    const text = fields[place]!
    if (text !== null) row[name] = decode(text)
  }
  return row
}

// Bytes go out as they are; pg knows them as a Buffer.
function inBuffer(value: Encoded): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
