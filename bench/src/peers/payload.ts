// The same small document for everyone, encoded by each in its own way.
export interface Payload {
  readonly email: string
  readonly template: string
  readonly sequence: number
}

export function makePayload(sequence: number): Payload {
  return { email: `customer-${sequence}@example.com`, template: 'welcome', sequence }
}
