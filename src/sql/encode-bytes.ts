// A bytea[] in Postgres' binary form: payloads are sent as they are. Hex in an array literal would be twice the size,
// and the server would parse it twice.

const byteaOid = 17
const headerBytes = 20
const nullLength = -1

export function encodeByteArray(elements: readonly (Uint8Array | null)[]): Uint8Array {
  if (elements.length === 0) return emptyArray()
  const size = elements.reduce((sum, element) => sum + 4 + (element?.byteLength ?? 0), headerBytes)
  const encoded = new Uint8Array(size)
  const view = new DataView(encoded.buffer)
  view.setInt32(0, 1) // dimensions
  view.setInt32(4, elements.includes(null) ? 1 : 0)
  view.setInt32(8, byteaOid)
  view.setInt32(12, elements.length)
  view.setInt32(16, 1) // lower bound
  let offset = headerBytes
  for (const element of elements) {
    view.setInt32(offset, element?.byteLength ?? nullLength)
    offset += 4
    if (element === null) continue
    encoded.set(element, offset)
    offset += element.byteLength
  }
  return encoded
}

function emptyArray(): Uint8Array {
  const encoded = new Uint8Array(12)
  new DataView(encoded.buffer).setInt32(8, byteaOid)
  return encoded
}
