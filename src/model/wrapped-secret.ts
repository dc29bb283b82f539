// A signing key's secret as it is stored, if the caller keeps a secret of its own outside the database: AES-256-GCM
// under a key that is derived from it, bound to the namespace and the id of the key, so that rows cannot be swapped.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { EngineError, refusal } from './errors.ts'
import { frame } from './frame.ts'

const label = 'flowfabric signing key wrap v1'
const formatVersion = 1
const nonceBytes = 12
const tagBytes = 16
const minSecretBytes = 16

/** The security depends on it, so it must not be short. The error does not contain it. */
export function checkWrappingSecret(value: unknown): string {
  if (typeof value === 'string' && Buffer.byteLength(value) >= minSecretBytes) return value
  const found = typeof value === 'string' ? `${Buffer.byteLength(value)} bytes long` : `of type ${typeof value}`
  throw refusal('invalid_input', 'the wrapping secret', found, `a string of at least ${minSecretBytes} random bytes`)
}

export interface KeyOwner {
  readonly namespace: string
  readonly kid: string
}

/** Version, nonce, ciphertext, tag. */
export function wrapSecret(secret: Uint8Array, wrappingSecret: string, owner: KeyOwner): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', wrappingKey(wrappingSecret), nonce, { authTagLength: tagBytes })
  cipher.setAAD(associated(owner))
  return Buffer.concat([Buffer.of(formatVersion), nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

export function unwrapSecret(wrapped: Uint8Array, wrappingSecret: string, owner: KeyOwner): Buffer {
  const bytes = Buffer.from(wrapped)
  if (bytes.length <= 1 + nonceBytes + tagBytes || bytes[0] !== formatVersion) {
    throw new EngineError(
      'corruption',
      `signing key ${owner.kid} is not stored as a wrapped key; rotate to a new one`,
      { ...owner },
    )
  }
  const nonce = bytes.subarray(1, 1 + nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', wrappingKey(wrappingSecret), nonce, { authTagLength: tagBytes })
  decipher.setAAD(associated(owner))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  const secret = decipher.update(bytes.subarray(1 + nonceBytes, -tagBytes))
  try {
    return Buffer.concat([secret, decipher.final()])
  } catch {
    const message = `signing key ${owner.kid} was wrapped with a different secret, or has been modified; pass the secret that wrapped it`
    throw new EngineError('wrong_wrapping_secret', message, { ...owner })
  }
}

function wrappingKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', label, 32))
}

function associated({ namespace, kid }: KeyOwner): Buffer {
  return frame([label, namespace, kid])
}

/** For a public server without a wrapping secret. */
export const unwrappedWarning =
  'signing keys are stored unwrapped, so a reader of the database can sign tokens and links; set a wrapping secret in every process (FLOWFABRIC_WRAPPING_SECRET), then rotate the keys with `flowfabric signing-key rotate`'
