import type { SigningKeysOptions } from '../engine/signing-key/keys.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { parseKid, parseSeedSecret } from '../model/signing-key.ts'
import { checkWrappingSecret } from '../model/wrapped-secret.ts'

/** How the tokens of waitpoints are signed. */
export interface SigningOptions {
  /**
   * A secret of your own, of at least 16 random bytes. It wraps signing keys before they are stored, so that a reader
   * of the database cannot sign. Every process that signs or verifies needs it.
   */
  readonly wrappingSecret?: string
  /** The first key, if the database has none; random when left out. The secret has 64 hex digits. */
  readonly key?: { readonly kid: string; readonly secret: string }
}

export function checkSigning(signing: SigningOptions): SigningKeysOptions {
  refuseUnknownFields('signing', signing, ['wrappingSecret', 'key'])
  const { wrappingSecret, key } = signing
  if (key !== undefined) refuseUnknownFields('signing.key', key, ['kid', 'secret'])
  return {
    ...(wrappingSecret === undefined ? {} : { wrappingSecret: checkWrappingSecret(wrappingSecret) }),
    ...(key === undefined ? {} : { firstKey: { kid: parseKid(key.kid), secret: parseSeedSecret(key.secret) } }),
  }
}
