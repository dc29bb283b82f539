// The same small document for every contestant, encoded by each in its own way.
export interface Payload {
  readonly email: string
  readonly template: string
  readonly sequence: number
}

export function makePayload(sequence: number): Payload {
  return { email: `customer-${sequence}@example.com`, template: 'welcome', sequence }
}

export function encodePayload(payload: Payload): Buffer {
  return Buffer.from(JSON.stringify(payload))
}

export function decodePayload(bytes: Uint8Array): Payload {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as Payload
}
