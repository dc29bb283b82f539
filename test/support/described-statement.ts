// Reads a statement's parameter and column types from a database, without running it.
import type { PGlite } from '@electric-sql/pglite'
import type pg from 'pg'
import type { Statement } from '../../src/sql/statement.ts'

interface Description {
  readonly params: readonly string[]
  readonly row: Readonly<Record<string, string>>
}

export interface Describer {
  describe(text: string): Promise<Description>
}

/**
 * The differences between the declaration and the database, as sentences. Marks for null exist only in the declaration.
 */
export function compare(statement: Statement, found: Description | string): string[] {
  if (typeof found === 'string') return [found]
  const declared = Object.entries(statement.params)
  const params = declared.map(([name, type], index) => disagreement(`parameter ${name}`, type, found.params[index]))
  const surplus = found.params.slice(declared.length).map((type) => disagreement('a parameter', undefined, type))
  const names = new Set([...Object.keys(statement.row), ...Object.keys(found.row)])
  const columns = [...names].map((name) => {
    // At run time, `oneOf` is also the word 'text'.
    const type = statement.row[name] as string | undefined
    return disagreement(`column ${name}`, type, found.row[name])
  })
  return [...params, ...surplus, ...columns].filter((sentence) => sentence !== null)
}

function disagreement(subject: string, declared: string | undefined, found: string | undefined): string | null {
  const type = declared?.replace('?', '')
  if (type === found) return null
  return `${subject} is declared ${type ?? 'nowhere'} and found ${found ?? 'nowhere'}`
}

export async function embeddedDescriber(pglite: PGlite): Promise<Describer> {
  const { rows } = await pglite.query<TypeName>(typeNames)
  const nameOf = typeNamer(rows)
  return {
    describe: async (text) => {
      const { queryParams, resultFields } = await pglite.describeQuery(text)
      return describe(
        queryParams.map((param) => param.dataTypeID),
        resultFields,
        nameOf,
      )
    },
  }
}

export async function postgresDescriber(client: pg.Client): Promise<Describer> {
  const { rows } = await client.query<TypeName>(typeNames)
  const nameOf = typeNamer(rows)
  return {
    describe: async (text) => {
      const { params, fields } = await new Promise<Described>((resolve, reject) => {
        client.query(new Describe(text, resolve, reject))
      })
      return describe(params, fields, nameOf)
    },
  }
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

type NameOf = (typeId: number) => string

function describe(params: readonly number[], fields: readonly Field[], nameOf: NameOf): Description {
  return {
    params: params.map(nameOf),
    row: Object.fromEntries(fields.map((field) => [field.name, nameOf(field.dataTypeID)])),
  }
}

interface TypeName {
  readonly oid: number
  readonly name: string
}

// An enum is declared as text, because the drivers return text.
const typeNames = `
  select type.oid::int as oid,
    case coalesce(element.typtype, type.typtype) when 'e' then 'text' else coalesce(element.typname, type.typname) end
      || case when element.oid is null then '' else '[]' end as name
  from pg_type as type
  left join pg_type as element on element.typarray = type.oid`

function typeNamer(types: readonly TypeName[]): NameOf {
  const names = new Map(types.map((type) => [type.oid, type.name]))
  return (typeId) => names.get(typeId) ?? `type ${typeId}`
}

interface Described {
  readonly params: readonly number[]
  readonly fields: readonly Field[]
}

// The part of pg's connection that a custom query object may use.
interface Connection {
  parse(query: { text: string }): void
  describe(what: { type: 'S' }): void
  sync(): void
  once(event: 'parameterDescription', receive: (message: { dataTypeIDs: number[] }) => void): void
}

/** Parse, Describe, Sync: the messages a driver sends before it runs a statement, without the Execute. */
class Describe implements pg.Submittable {
  readonly #text: string
  readonly #resolve: (described: Described) => void
  readonly #reject: (error: Error) => void
  #params: readonly number[] = []
  #fields: readonly Field[] = []

  constructor(text: string, resolve: (described: Described) => void, reject: (error: Error) => void) {
    this.#text = text
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(given: pg.Connection): void {
    const connection = given as unknown as Connection
    connection.once('parameterDescription', (message) => {
      this.#params = message.dataTypeIDs
    })
    connection.parse({ text: this.#text })
    connection.describe({ type: 'S' })
    connection.sync()
  }

  handleRowDescription(message: { fields: readonly Field[] }): void {
    this.#fields = message.fields
  }

  handleError(error: Error): void {
    this.#reject(error)
  }

  handleReadyForQuery(): void {
    this.#resolve({ params: this.#params, fields: this.#fields })
  }
}
