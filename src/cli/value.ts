// Bytes of users, as far as the CLI can decode them: JSON as its value, anything else by its encoding.

export function readable(bytes: Uint8Array | null, encoding: string | null): unknown {
  if (bytes === null) return null
  if ((encoding ?? 'json') === 'json') {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    } catch {
      // The bytes do not have the declared encoding.
    }
  }
  return { encoding, base64: Buffer.from(bytes).toString('base64') }
}

/** On one line, for a table. */
export function inShort(bytes: Uint8Array | null, encoding: string | null): string {
  if (bytes === null) return ''
  const value = readable(bytes, encoding)
  const isOpaque = encoding !== null && encoding !== 'json'
  return isOpaque ? `${bytes.length} bytes (${encoding})` : JSON.stringify(value)
}

/** JSON has no form for bytes: each `name` with its `nameEncoding` becomes the value of these bytes. */
export function withValues(thing: object): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(thing)) {
    const encoding: unknown = Reflect.get(thing, `${name}Encoding`)
    const isEncoding = name.endsWith('Encoding') && name.slice(0, -'Encoding'.length) in thing
    if (isEncoding) continue
    const isBytes = value instanceof Uint8Array
    shown[name] = isBytes ? readable(value, typeof encoding === 'string' ? encoding : null) : value
  }
  return shown
}
