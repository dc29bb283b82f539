// The process that reads the pages: of the small and the large table in turns, so that anything that slows the machine
// slows both.
import { connect } from '../../../src/index.ts'
import type { Executions, ListRequest } from '../../../src/index.ts'
import { serve } from '../child.ts'
import { median } from '../median.ts'
import { pageSize } from './kinds.ts'

export interface TurnPagesInput {
  readonly url: string
  readonly rounds: number
  readonly pages: readonly PagePair[]
}

export interface PagePair {
  readonly small: Page
  readonly large: Page
}

export interface Page {
  readonly schema: string
  readonly request: ListRequest
}

/** For each pair, the median of each round. */
export type TurnPagesOutput = readonly { readonly smallMs: number[]; readonly largeMs: number[] }[]

// More than the five runs after which Postgres may choose a generic plan.
const warmUpCount = 7
const readCount = 15
/** A list that reads the whole table is measured as well, but not at the same length. */
const patienceMs = 2000

await serve<TurnPagesOutput>(async (input) => {
  const { url, rounds, pages } = input as TurnPagesInput
  const schemas = [...new Set(pages.flatMap(({ small, large }) => [small.schema, large.schema]))]
  const opened = await Promise.all(schemas.map((schema) => connect(url, { schema, migrate: false })))
  const executionsOf = ({ schema }: Page) => opened[schemas.indexOf(schema)]!.engine.executions
  const output = pages.map(() => ({ smallMs: [] as number[], largeMs: [] as number[] }))
  return {
    async obey() {
      for (let round = 0; round < rounds; round++) {
        for (const [index, { small, large }] of pages.entries()) {
          const { smallMs, largeMs } = await readBoth(
            () => read(executionsOf(small), small),
            () => read(executionsOf(large), large),
          )
          output[index]!.smallMs.push(smallMs)
          output[index]!.largeMs.push(largeMs)
        }
      }
      return output
    },
    close: async () => void (await Promise.all(opened.map((ff) => ff.close()))),
  }
})

async function readBoth(readSmall: () => Promise<number>, readLarge: () => Promise<number>) {
  const small: number[] = []
  const large: number[] = []
  const impatientAt = performance.now() + patienceMs
  for (let count = 0; count < warmUpCount + readCount; count++) {
    small.push(await readSmall())
    large.push(await readLarge())
    if (performance.now() > impatientAt && count > 1) break
  }
  const settled = (times: number[]) => median(times.slice(Math.min(warmUpCount, times.length - 1)))
  return { smallMs: settled(small), largeMs: settled(large) }
}

async function read(executions: Executions, { schema, request }: Page): Promise<number> {
  const startedAt = performance.now()
  const page = await executions.list({ ...request, limit: pageSize })
  const ms = performance.now() - startedAt
  if (page.executions.length === pageSize) return ms
  throw new Error(`the page ${JSON.stringify(request)} of ${schema} has ${page.executions.length} executions`)
}
