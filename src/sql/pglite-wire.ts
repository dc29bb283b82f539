// Uses the wire protocol with PGlite: statements are prepared once by name, and any number of them are one message.
// Measured against `db.query`, which parses, plans and describes each time in six messages: 0.08 ms instead of 0.5 ms
// for a small insert.
//
// Each part ends in a sync of its own, so that after an error that part and all later ones still have a reply.
import type { PGlite, messages, protocol } from '@electric-sql/pglite'
import { decoderOf } from './decode.ts'
import type { EncodedValue } from './encode.ts'
import type { Prepared } from './prepare.ts'

type WireMessage = messages.BackendMessage
export type Row = Readonly<Record<string, unknown>>

export type WirePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'statement'; readonly prepared: Prepared; readonly values: readonly EncodedValue[] }

export interface PartAnswer {
  readonly rows: Row[]
  readonly command: string
  readonly error: Error | undefined
  readonly isParsed: boolean
  /** Open, or failed and not yet rolled back. */
  readonly isInTransaction: boolean
}

export class Wire {
  readonly #db: PGlite
  readonly #serialize: typeof protocol.serialize
  readonly #parsed = new Set<string>()
  #isInTransaction = false

  constructor(db: PGlite, serialize: typeof protocol.serialize) {
    this.#db = db
    this.#serialize = serialize
  }

  get isInTransaction(): boolean {
    return this.#isInTransaction
  }

  /** One answer for each part. Never two at a time: the caller holds the mutex. */
  async send(parts: readonly WirePart[]): Promise<PartAnswer[]> {
    const pending = new Map<number, string>()
    const written = parts.flatMap((part, index) => this.#write(part, index, pending))
    const received = await this.#db.execProtocolStream(Buffer.concat(written), { syncToFs: false, throwOnError: false })
    const answers = answersIn(received)
    this.#isInTransaction = answers.at(-1)?.isInTransaction ?? false
    for (const [index, name] of pending) {
      if (answers[index]?.isParsed !== true) this.#parsed.delete(name)
    }
    return answers
  }

  #write(part: WirePart, index: number, pending: Map<number, string>): Uint8Array[] {
    const serialize = this.#serialize
    if (part.kind === 'text') return [serialize.query(part.text)]
    const { name = '', text } = part.prepared
    const written: Uint8Array[] = []
    if (!this.#parsed.has(name)) written.push(serialize.parse({ name, text }))
    if (name !== '' && !this.#parsed.has(name)) {
      this.#parsed.add(name)
      pending.set(index, name)
    }
    written.push(
      serialize.bind({ statement: name, values: [...part.values] }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
      serialize.sync(),
    )
    return written
  }
}

function answersIn(received: readonly WireMessage[]): PartAnswer[] {
  const answers: PartAnswer[] = []
  let current = new PartResult()
  for (const message of received) {
    current.take(message)
    if (message.name !== 'readyForQuery') continue
    answers.push(current.answer())
    current = new PartResult()
  }
  return answers
}

class PartResult {
  #columns: { readonly name: string; readonly decode: (text: string) => unknown }[] = []
  #rows: Row[] = []
  #command = ''
  #error: Error | undefined
  #isParsed = false
  #isInTransaction = false

  take(message: WireMessage): void {
    switch (message.name) {
      case 'parseComplete':
        this.#isParsed = true
        break
      case 'rowDescription':
        this.#columns = (message as messages.RowDescriptionMessage).fields.map(({ name, dataTypeID }) => ({
          name,
          decode: decoderOf(dataTypeID),
        }))
        break
      case 'dataRow':
        this.#takeRow((message as messages.DataRowMessage).fields)
        break
      case 'commandComplete':
        this.#command = (message as messages.CommandCompleteMessage).text
        break
      case 'error':
        this.#error ??= message as messages.DatabaseError
        break
      case 'readyForQuery':
        this.#isInTransaction = (message as messages.ReadyForQueryMessage).status !== 'I'
        break
      default:
        break
    }
  }

  answer(): PartAnswer {
    return {
      rows: this.#rows,
      command: this.#command,
      error: this.#error,
      isParsed: this.#isParsed,
      isInTransaction: this.#isInTransaction,
    }
  }

  #takeRow(fields: readonly (string | null)[]): void {
    const row: Record<string, unknown> = {}
    try {
      this.#columns.forEach(({ name, decode }, index) => {
        const field = fields[index] ?? null
        row[name] = field === null ? null : decode(field)
      })
      this.#rows.push(row)
    } catch (error) {
      this.#error ??= error as Error
    }
  }
}
