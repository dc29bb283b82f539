// The body of a request as JSON, within its limit; and what a fault of it is called.
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { BodySize } from '../api/route.ts'

// A payload of a MiB is larger in base64, and other fields come with it.
const payloadBodyBytes = Math.ceil((limits.payloadBytes * 4) / 3) + limits.controlBodyBytes

const largest: Readonly<Record<BodySize, number>> = {
  none: 0,
  control: limits.controlBodyBytes,
  payload: payloadBodyBytes,
  batch: limits.batchBodyBytes,
}

export async function readJson(request: Request, size: BodySize): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(request, largest[size])
  if (text === '') return {}
  refuseOtherTypes(request.headers.get('content-type'))
  const value = parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new EngineError('invalid_input', `the body is ${describe(value)}; it must be a JSON object`, { field: 'body' })
}

export async function readText(request: Request, limit: number): Promise<string> {
  const announced = request.headers.get('content-length')
  // Whoever mounts the app may not have checked it.
  if (announced !== null && /^\d+$/.test(announced)) {
    if (Number(announced) > limit) throw tooLarge(limit)
    return request.text()
  }
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
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

function tooLarge(limit: number): EngineError {
  const sentence = `the body is larger than ${limit} bytes, which is what this route takes; send less at a time`
  return new EngineError('payload_too_large', sentence, { field: 'body', limit })
}
