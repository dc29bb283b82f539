// CRC-16/XMODEM: polynomial 0x1021, starts at 0, nothing reflected, nothing added at the end. It decides the partition
// of ids, so it can never change.

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8
  for (let bit = 0; bit < 8; bit += 1) {
    remainder = remainder & 0x8000 ? (remainder << 1) ^ 0x1021 : remainder << 1
  }
  return remainder
})

export function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ byte]!
  }
  return crc
}
