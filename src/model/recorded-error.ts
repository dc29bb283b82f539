// A thrown value, as it is recorded with a failed attempt: plain values, whatever was thrown, and never more than the
// engine stores. Reading it must not throw again: getters may fail, causes may form a cycle, a message may be very
// long.
import { limits } from './limits.ts'
import { show } from './text.ts'
import { checkEncoded, jsonCodec, type Codec, type Encoded } from './codec.ts'

export interface RecordedError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** Its own further fields, such as `code`; for a value that is no error, the value itself. */
  readonly details?: unknown
  readonly cause?: RecordedError
  /** Of an AggregateError. */
  readonly errors?: readonly RecordedError[]
  /** A part was left out, because it was too large, too deep, or its own cause. */
  readonly isCut?: true
  /** No further try would have helped: the recorder decided so, by more than the name. */
  readonly isPermanent?: true
}

// The limits for one thrown value: of all errors, and of the chain of causes.
const mostErrors = 32
const mostCauses = 8
const mostValues = 1000
// Fields that are recorded separately.
const recordedFields = new Set(['name', 'message', 'stack', 'cause', 'errors'])
/** The name of a thrown value that is no error. */
export const noError = 'NonError'

/**
 * The `error` and `errorEncoding` of `fail`.
 *
 * @example
 * const { bytes, encoding } = encodeError(thrown)
 * await executions.fail({ ...fence, reason: 'the mail server refused', error: bytes, errorEncoding: encoding })
 */
export function encodeError(thrown: unknown, codec: Codec = jsonCodec, isPermanent: boolean = false): Encoded {
  // The codec decides the final size, so texts are shortened until it fits.
  for (let textLength = limits.errorBytes; ; textLength /= 4) {
    const recorded = new Recorder(textLength).record(thrown, [])
    const encoded = checkEncoded(codec.encode(isPermanent ? { ...recorded, isPermanent } : recorded))
    if (encoded.bytes.byteLength <= limits.errorBytes || textLength <= 1) return encoded
  }
}

/** Decodes the error of `attempts.list`; other bytes become the details of a value that is no error. */
export function decodeError(encoded: Encoded, codec: Codec = jsonCodec): RecordedError {
  const value = codec.decode(encoded)
  return isRecorded(value) ? value : { name: noError, message: show(value), details: value }
}

function isRecorded(value: unknown): value is RecordedError {
  if (typeof value !== 'object' || value === null) return false
  const { name, message, stack, cause, errors } = value as Partial<RecordedError>
  if (typeof name !== 'string' || typeof message !== 'string') return false
  if (stack !== undefined && typeof stack !== 'string') return false
  if (cause !== undefined && !isRecorded(cause)) return false
  return errors === undefined || (Array.isArray(errors) && errors.every(isRecorded))
}

/** The reason of a failure whose text the codec keeps secret. */
export const sealedReason = 'the handler threw; its error is stored with the attempt, encoded by your codec'

/** The same when the codec could not encode the error, so that nothing is stored. */
export const unrecordedReason =
  "the handler threw; its error is not stored, because the codec could not encode it. See the worker's log"

/** With its causes: `the mail was not sent: connection refused`. */
export function sentenceOf(error: RecordedError): string {
  const messages: string[] = []
  for (let each: RecordedError | undefined = error; each !== undefined && messages.length < 5; each = each.cause) {
    const message = each.message === '' ? each.name : each.message
    if (!messages.some((earlier) => containsMessage(earlier, message))) messages.push(message)
  }
  return messages.join(': ')
}

/** Whether a message ends with the message of its cause, or has it between others: `step "pay" failed: no funds: empty`. */
export function containsMessage(sentence: string, message: string): boolean {
  return sentence.endsWith(message) || sentence.includes(`: ${message}: `)
}

type Draft = { -readonly [Field in keyof RecordedError]: RecordedError[Field] }

class Recorder {
  readonly #textLength: number
  #errorCount = 0

  constructor(textLength: number) {
    this.#textLength = textLength
  }

  /** `above` are the errors whose cause or part it is. */
  record(thrown: unknown, above: readonly unknown[]): RecordedError {
    this.#errorCount += 1
    return isError(thrown) ? this.#ofError(thrown, [...above, thrown]) : this.#ofValue(thrown)
  }

  #ofError(error: object, path: readonly unknown[]): RecordedError {
    const draft: Draft = { name: '', message: '' }
    draft.name = this.#cut(draft, textOf(read(error, 'name')) ?? 'Error')
    const message = textOf(read(error, 'message')) ?? ''
    draft.message = this.#cut(draft, message)
    const stack = textOf(read(error, 'stack'))
    if (stack !== undefined) draft.stack = this.#cut(draft, this.#withShortHead(stack, message))
    const details = this.#detailsOf(draft, error)
    if (details !== undefined) draft.details = details
    const cause = this.#within(draft, [read(error, 'cause')], path)[0]
    if (cause !== undefined) draft.cause = cause
    const parts = read(error, 'errors')
    const first = attempt(() => (Array.isArray(parts) ? parts.slice(0, mostErrors) : undefined))
    if (first !== undefined) draft.errors = this.#within(draft, first, path)
    return draft
  }

  /** A stack begins with the message, which must not displace the frames. */
  #withShortHead(stack: string, message: string): string {
    const headline = shortened(message, this.#textLength / 4)
    return stack.replace(message, () => headline)
  }

  #ofValue(value: unknown): RecordedError {
    const draft: Draft = { name: noError, message: '' }
    draft.message = this.#cut(draft, typeof value === 'string' ? value : shown(value))
    if (typeof value === 'object' && value !== null) draft.details = this.#plain(draft, value)
    return draft
  }

  #within(draft: Draft, values: readonly unknown[], path: readonly unknown[]): RecordedError[] {
    const present = values.filter((value) => value !== undefined && value !== null)
    const found: RecordedError[] = []
    for (const value of present) {
      const isTooMuch = path.length > mostCauses || this.#errorCount >= mostErrors || path.includes(value)
      if (isTooMuch) draft.isCut = true
      else found.push(this.record(value, path))
    }
    return found
  }

  #detailsOf(draft: Draft, error: object): unknown {
    const names = (attempt(() => Object.keys(error)) ?? []).filter((name) => !recordedFields.has(name))
    if (names.length > mostValues) draft.isCut = true
    const fields = names.slice(0, mostValues).map((name) => [name, read(error, name)] as const)
    const said = fields.filter(([, value]) => value !== undefined && typeof value !== 'function')
    if (said.length === 0) return undefined
    const details = Object.fromEntries(said.map(([name, value]) => [name, this.#plain(draft, value)]))
    if (JSON.stringify(details).length <= this.#textLength) return details
    draft.isCut = true
    return undefined
  }

  /** As JSON; a value that JSON cannot hold, or that is too long, is only named. */
  #plain(draft: Draft, value: unknown): unknown {
    const text = attempt(() => boundedJson(value))
    if (text !== undefined && text.length <= this.#textLength) return JSON.parse(text)
    draft.isCut = true
    return shown(value)
  }

  #cut(draft: Draft, text: string): string {
    if (text.length > this.#textLength) draft.isCut = true
    return shortened(text, this.#textLength)
  }
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}

function isError(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return attempt(() => value instanceof Error) === true || textOf(read(value, 'message')) !== undefined
}

function boundedJson(value: unknown): string | undefined {
  let left = mostValues
  const counted = (_: string, inner: unknown): unknown => {
    left -= 1
    if (left < 0) throw new RangeError('too many values')
    return inner
  }
  return JSON.stringify(value, counted)
}

function read(object: object, name: string): unknown {
  return attempt(() => (object as Record<string, unknown>)[name])
}

function shown(value: unknown): string {
  return attempt(() => show(value)) ?? 'unreadable'
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Undefined when it throws. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
