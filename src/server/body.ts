// The body of a request as JSON, within the limits of its route. Bytes, items and depth are counted before anything is parsed.
import type { BodySize, Route } from '../api/route.ts'
import { EngineError } from '../model/errors.ts'
import { refuseLargeJson } from '../model/json-size.ts'
import { limits } from '../model/limits.ts'
import type { TakenBytes } from './body-budget.ts'

// A payload of a MiB is larger in base64, and other fields come with it.
const payloadBodyBytes = Math.ceil((limits.payloadBytes * 4) / 3) + limits.controlBodyBytes

const largest: Readonly<Record<BodySize, number>> = {
  none: 0,
  control: limits.controlBodyBytes,
  signal: limits.signalBodyBytes,
  payload: payloadBodyBytes,
  batch: limits.batchBodyBytes,
}

export async function readJson(
  request: Request,
  { body, mostItems }: Pick<Route, 'body' | 'mostItems'>,
  taken: TakenBytes,
): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readBytes(request, largest[body], taken)
  if (bytes.byteLength === 0) return {}
  refuseOtherTypes(request.headers.get('content-type'))
  refuseLargeJson('body', bytes, mostItems)
  const value = parse(bytes.toString('utf8'))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new EngineError('invalid_input', `the body is ${describe(value)}; it must be a JSON object`, { field: 'body' })
}

/** Counts the bytes before it reads them if the request announces them, otherwise while it reads. */
export async function readBytes(request: Request, limit: number, taken: TakenBytes): Promise<Buffer> {
  const announced = request.headers.get('content-length')
  // The server that mounts the app may not have checked it.
  if (announced !== null && /^\d+$/.test(announced)) {
    const length = Number(announced)
    if (length > limit) throw tooLarge(limit)
    taken.add(length)
    return Buffer.from(await request.arrayBuffer().catch(cutShort))
  }
  if (request.body === null) return Buffer.alloc(0)
  return readChunks(request.body as unknown as AsyncIterable<Uint8Array>, limit, taken).catch(cutShort)
}

async function readChunks(body: AsyncIterable<Uint8Array>, limit: number, taken: TakenBytes): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > limit) throw tooLarge(limit)
    taken.add(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refuseOtherTypes(type: string | null): void {
  const [name = ''] = (type ?? '').split(';')
  if (name.trim().toLowerCase() === 'application/json') return
  const found = type === null ? 'missing' : `'${type.slice(0, 100)}'`
  throw new EngineError('unsupported_media_type', `the content type is ${found}; send application/json`, { found })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unreadable'
    throw new EngineError('invalid_input', `the body is not JSON: ${why}; send a JSON object`, { field: 'body' })
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** A client that disconnects while it sends is no fault of the server, and receives no response. */
function cutShort(error: unknown): never {
  if (EngineError.is(error)) throw error
  throw new EngineError('invalid_input', 'the body ended before it was whole; send all of it', { field: 'body' })
}

function tooLarge(limit: number): EngineError {
  const sentence = `the body is larger than ${limit} bytes, which is what this route takes; send less at a time`
  return new EngineError('payload_too_large', sentence, { field: 'body', limit })
}
