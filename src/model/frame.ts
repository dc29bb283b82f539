// Texts as bytes, each after its length, so that no two lists of texts have the same bytes.

export function frame(fields: readonly string[]): Buffer {
  const lengths = fields.map((field) => Buffer.byteLength(field))
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + 4 + length, 0))
  let at = 0
  for (const [index, field] of fields.entries()) {
    at = bytes.writeUInt32BE(lengths[index]!, at)
    at += bytes.write(field, at)
  }
  return bytes
}

/** Null unless the bytes are exactly the frame of the returned texts. */
export function unframe(bytes: Buffer): string[] | null {
  const fields: string[] = []
  let at = 0
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return null
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return null
    fields.push(bytes.toString('utf8', at + 4, end))
    at = end
  }
  // Invalid UTF-8 is decoded as a replacement character, which other bytes are too.
  return frame(fields).equals(bytes) ? fields : null
}
