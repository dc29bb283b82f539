// Converts rows of a driver that the application has configured to the form of our own decoder, by the types that the
// statement declares.
import { decoderOf } from './decode.ts'
import type { Columns, ParamType } from './statement.ts'

type DriverRow = Readonly<Record<string, unknown>>

export function normalise(columns: Columns, row: DriverRow): DriverRow {
  // A word column is 'text' at run time.
  const types = Object.entries(columns as Readonly<Record<string, ParamType>>)
  return Object.fromEntries(types.map(([name, type]) => [name, valueOf(type, row[name])]))
}

const byteaOid = 17
const boolOid = 16

function valueOf(declared: string, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (declared.endsWith('[]'))
    return Array.isArray(value) ? value.map((one) => valueOf(declared.slice(0, -2), one)) : value
  switch (declared.replace('?', '')) {
    case 'int2':
    case 'int4':
    case 'int8':
      return integer(value)
    case 'float8':
      return Number(value)
    case 'bool':
      return typeof value === 'string' ? decoderOf(boolOid)(value) : value
    case 'bytea':
      return typeof value === 'string' ? decoderOf(byteaOid)(value) : value
    default:
      return value
  }
}

function integer(value: unknown): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new RangeError(`the integer ${String(value)} exceeds the safe integer range`)
}
