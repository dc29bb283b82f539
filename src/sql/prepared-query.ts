// Statements on their way to the server, and the reader of their answers, in the place of pg's own query. One sync ends them all:
// to the server they are one transaction, and after one that it refuses it does none of the others. Sent each with a sync of
// its own, as pg sends queries, a begin that somebody cancels would leave the others to be done without it.
//
// What columns a prepared statement has is asked once on each connection and remembered: the server refuses to run one whose
// columns have changed. Asked every time, as pg does, it takes a tenth of a claim of one (measured). A pooler that knows names
// prepares one anew on each of its server's connections, where the columns may be others: behind it nothing is remembered.
import pg from 'pg'
import { decoderOf } from './decode.ts'
import type { Encoded } from './encode.ts'
import type { Prepared } from './prepare.ts'

/** `failedAt`: which of them was refused; the number of all, when it was none of them. */
type Answered = (error: Error | null, rows: unknown[][], failedAt: number) => void
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

export interface PreparedCall {
  readonly prepared: Prepared
  readonly values: readonly Encoded[]
}

interface Sent {
  /** Undefined, too, when it goes without the name that it was given. */
  readonly name: string | undefined
  readonly text: string
  shape: Shape | undefined
  readonly rows: Row[]
}

/** By pg's rules for what it is given in the place of its own: the methods are called by its client. */
export class PreparedSet extends pg.Query {
  /** As pg asks for it: of the one whose answer comes next. */
  name: string | undefined
  text = ''
  readonly callback: Answered
  readonly #calls: readonly PreparedCall[]
  readonly #sent: Sent[] = []
  #answered = 0
  #known: Map<string, Shape> | null = null
  #failure: Error | undefined

  constructor(calls: readonly PreparedCall[], answered: Answered) {
    super('')
    this.#calls = calls
    this.callback = answered
  }

  override submit = (connection: pg.Connection): null => {
    const wire = connection as unknown as Wire
    this.#known = shapesOf(wire)
    for (const { prepared, values } of this.#calls) this.#sent.push(this.#send(wire, prepared, values))
    wire.sync()
    this.#expect(0)
    return null
  }

  #send(wire: Wire, { name: given, text }: Prepared, values: readonly Encoded[]): Sent {
    const { parsedStatements, submittedNamedStatements } = wire
    // Sent and not answered, its preparation may yet fail, and would take down what relies on it.
    const name = given !== undefined && submittedNamedStatements[given] !== undefined ? undefined : given
    let shape: Shape | undefined
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

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#learn(fields)
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
    // One that gives no rows has no description.
    if (this.#sent[this.#answered]!.shape === undefined) this.#learn([])
    this.#expect(this.#answered + 1)
  }

  handleReadyForQuery(): void {
    const rows = this.#sent.map((one) => one.rows)
    this.callback(this.#failure ?? null, rows, this.#answered)
  }

  handleError(error: Error, { submittedNamedStatements }: Wire): void {
    for (const { name } of this.#sent.slice(this.#answered)) {
      if (name !== undefined) delete submittedNamedStatements[name]
    }
    this.callback(error, [], this.#answered)
  }

  #learn(fields: readonly Field[]): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }))
    const shape = { columns, empty: Object.fromEntries(fields.map(({ name }) => [name, null])) }
    const one = this.#sent[this.#answered]!
    one.shape = shape
    if (one.name !== undefined) this.#known?.set(one.name, shape)
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

// Bytes go out as they are; pg knows them as a Buffer.
function inBuffer(value: Encoded): string | Buffer | null {
  if (value === null || typeof value === 'string') return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}
