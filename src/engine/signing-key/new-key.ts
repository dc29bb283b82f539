import { randomBytes } from 'node:crypto'

export interface NewKey {
  readonly kid: string
  readonly secret: Uint8Array
}

/** Random. */
export function mintKey(): NewKey {
  return { kid: `k${randomBytes(6).toString('hex')}`, secret: randomBytes(32) }
}
