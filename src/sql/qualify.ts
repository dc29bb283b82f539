// Statements are written for the schema `flowfabric`. For another schema, every `flowfabric.` in front of a name
// becomes that schema, quoted. Comments and quoted identifiers do not change. Inside a string, where a name may be that
// of a `regclass`, the quotes of the new name are doubled.
import type { Statement } from './statement.ts'

const defaultSchema = 'flowfabric'
const longestName = 63

const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|\bflowfabric\./g
const qualifierForm = /\bflowfabric\./g

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Throws on a name that Postgres would refuse, or silently cut to 63 bytes. */
export function checkSchema(schema: string): void {
  const bytes = Buffer.byteLength(schema)
  if (bytes < 1 || bytes > longestName || schema.includes('\0')) {
    throw new TypeError(`schema ${JSON.stringify(schema)} must have 1 to ${longestName} bytes and no NUL`)
  }
  // The functions of the schema name it in their bodies, which end at two dollars.
  if (schema.includes('$$')) throw new TypeError(`schema ${JSON.stringify(schema)} must not contain $$`)
  if (schema.startsWith('pg_')) {
    throw new TypeError(`schema ${JSON.stringify(schema)} is reserved: names that begin with pg_ belong to Postgres`)
  }
}

export function qualifyText(text: string, schema: string): string {
  if (schema === defaultSchema) return text
  const prefix = `${quoteIdentifier(schema)}.`
  const prefixInString = prefix.replaceAll("'", "''")
  return text.replace(pieces, (piece) => {
    if (piece === 'flowfabric.') return prefix
    if (piece.startsWith("'")) return piece.replace(qualifierForm, () => prefixInString)
    return piece
  })
}

/** The texts of the statements for one schema, each made once. */
export function qualifier(schema: string): (statement: Statement) => string {
  checkSchema(schema)
  const texts = new WeakMap<Statement, string>()
  return (statement) => {
    const known = texts.get(statement)
    if (known !== undefined) return known
    const text = qualifyText(statement.text, schema)
    texts.set(statement, text)
    return text
  }
}
