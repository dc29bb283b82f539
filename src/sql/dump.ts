// Writes a whole schema as SQL. The text is the same from Postgres 15 to 18 and from the embedded database, so that a
// change of the schema is a readable diff. Names are in alphabetical order; the columns of a table keep their order.
import { quoteIdentifier } from './qualify.ts'
import type { Queries, Sql } from './sql.ts'
import {
  columnsStatement,
  constraintsStatement,
  enumsStatement,
  functionsStatement,
  indexesStatement,
  sequencesStatement,
  tablesStatement,
  triggersStatement,
  viewsStatement,
} from './dump-catalogue.ts'
import type { RowOf } from './statement.ts'

export async function dumpSchema(sql: Sql): Promise<string> {
  const sections = await sql.transaction(async (tx) => {
    // The catalogue's functions leave out schemas that are on the search path.
    await tx.script('set local search_path to pg_catalog')
    return readSections(tx, sql.schema)
  })
  return `${sections.flat().join('\n\n')}\n`
}

async function readSections(tx: Queries, schema: string): Promise<string[][]> {
  const values = { schema }
  const enums = await tx.query(enumsStatement, values)
  const sequences = await tx.query(sequencesStatement, values)
  const tables = await tx.query(tablesStatement, values)
  const columns = await tx.query(columnsStatement, values)
  const constraints = await tx.query(constraintsStatement, values)
  const indexes = await tx.query(indexesStatement, values)
  const views = await tx.query(viewsStatement, values)
  const functions = await tx.query(functionsStatement, values)
  const triggers = await tx.query(triggersStatement, values)
  return [
    [`create schema ${quoteIdentifier(schema)};`],
    enums.map((found) => `create type ${found.name} as enum (\n${indent(found.labels)}\n);`),
    sequences.map((found) => `create sequence ${found.name} ${found.options};`),
    functions.map(({ definition, withheld }) =>
      [definition.trim(), ...(withheld === null ? [] : [withheld])].map((text) => `${text};`).join('\n'),
    ),
    tables.map((found) => table(found, columns, constraints, indexes)),
    constraints
      .filter((found) => found.is_foreign)
      .map((found) => `alter table ${found.table_name} add ${found.definition};`),
    views.map((found) => `create view ${found.name} as\n${unqualified(found.definition)}`),
    triggers.map((found) => `${found.definition};`),
  ]
}

function table(
  found: RowOf<typeof tablesStatement.row>,
  columns: readonly RowOf<typeof columnsStatement.row>[],
  constraints: readonly RowOf<typeof constraintsStatement.row>[],
  indexes: readonly RowOf<typeof indexesStatement.row>[],
): string {
  const own = <T extends { readonly table_name: string }>(rows: readonly T[]): T[] =>
    rows.filter((row) => row.table_name === found.name)
  // Foreign keys come after all tables, so that the dump runs without changes.
  const inner = own(constraints).filter((constraint) => !constraint.is_foreign)
  const body = [...own(columns), ...inner].map((row) => row.definition)
  const head = `create table ${found.name}`
  const lines = [
    found.partition_of === null
      ? `${head} (\n${indent(body)}\n)`
      : `${head} partition of ${found.partition_of} ${found.partition_bound}`,
    ...(found.partition_key === null ? [] : [`partition by ${found.partition_key}`]),
    ...(found.options.length === 0 ? [] : [`with (\n${indent(found.options)}\n)`]),
  ]
  return [`${lines.join('\n')};`, ...own(indexes).map((index) => `${index.definition};`)].join('\n')
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`).join(',\n')
}

// Up to Postgres 15 the columns of a view over one relation carry its name, from 16 on they do not. The server writes
// the relation on a line of its own.
function unqualified(definition: string): string {
  const [only, ...more] = definition.matchAll(/^ +FROM (?:[\w"]+\.)?([\w"]+)(?: ([\w"]+))?;?$/gm)
  if (only === undefined || more.length > 0) return definition.trim()
  const [, name, alias] = only
  return definition.trim().replace(new RegExp(`(?<![\\w".])${alias ?? name}\\.(?=[\\w"])`, 'g'), '')
}
