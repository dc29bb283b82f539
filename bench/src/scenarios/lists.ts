// A page must cost the same out of a million as out of a thousand. Every kind of list is read at its beginning and deep
// inside, first on tables that were never analysed, as just after a restore, and then on analysed ones.
import { connect } from '../../../src/index.ts'
import { startChild } from '../child.ts'
import { median, rangeOf } from '../median.ts'
import { deepCursor } from '../pages/deep-cursor.ts'
import { commonStates, kindsOf, rareStates, smallTables } from '../pages/kinds.ts'
import type { SmallTable } from '../pages/kinds.ts'
import { analyse, fill, refuseBrokenInvariants } from '../pages/load.ts'
import type { PagePair, TurnPagesInput, TurnPagesOutput } from '../pages/turn-pages.child.ts'
import type { Bar, Bench, Ratio, Scenario } from '../scenario.ts'

const baseline = 'a page out of 1,000'
const bar: Bar = { direction: 'at most', must: 3 }

interface LabelledPair extends PagePair {
  readonly label: string
}

export const lists: Scenario = {
  name: 'lists',
  title: 'a page of 100 out of a million executions, against a page out of a thousand',
  async run(bench) {
    const database = await bench.server.createDatabase()
    const parents = await fillAll(bench, database.url)
    const pairs = await pairsOf(database.url, parents)
    bench.say(`${pairs.length} pages, never analysed`)
    const fresh = await turnPages(bench, database.url, pairs)
    await analyse(database.url)
    bench.say(`${pairs.length} pages, analysed`)
    const analysed = await turnPages(bench, database.url, pairs)
    await database.drop()
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline,
      rows: pairs.map(({ label }, index) => ({
        label,
        value: median(analysed[index]!.largeMs),
        ratios: [ratioOf(analysed[index]!, baseline), ratioOf(fresh[index]!, 'never analysed')],
      })),
      notes: [
        `the large table holds ${bench.settings.rows.toLocaleString('en')} executions; times are the large table's, analysed`,
      ],
    }
  },
}

type Parents = ReadonlyMap<string, string>

async function fillAll(bench: Bench, url: string): Promise<Parents> {
  const parents = new Map<string, string>()
  for (const [schema, states] of Object.entries(smallTables)) {
    parents.set(schema, await fill(url, { schema, rows: 1000, rareRows: 440, states, rareStates: [] }))
    await refuseBrokenInvariants(url, schema)
  }
  const { rows } = bench.settings
  bench.say(`loading ${rows.toLocaleString('en')} executions`)
  parents.set('large', await fill(url, { schema: 'large', rows, rareRows: 4000, states: commonStates, rareStates }))
  return parents
}

async function pairsOf(url: string, parents: Parents): Promise<LabelledPair[]> {
  const schemas = [...parents.keys()]
  const opened = await Promise.all(schemas.map((schema) => connect(url, { schema, migrate: false })))
  const executionsOf = (schema: string) => opened[schemas.indexOf(schema)]!.engine.executions
  const pairs: LabelledPair[] = []
  const ofLarge = kindsOf(parents.get('large')!)
  for (const [index, { label, request, small }] of ofLarge.entries()) {
    const ofSmall = kindsOf(parents.get(small)!)[index]!.request
    const deep = async (schema: SmallTable | 'large', filter: typeof request) => {
      return { schema, request: { ...filter, cursor: await deepCursor(executionsOf(schema), filter) } }
    }
    pairs.push(
      {
        label: `${label}, first page`,
        small: { schema: small, request: ofSmall },
        large: { schema: 'large', request },
      },
      { label: `${label}, deep inside`, small: await deep(small, ofSmall), large: await deep('large', request) },
    )
  }
  await Promise.all(opened.map((ff) => ff.close()))
  return pairs
}

async function turnPages(bench: Bench, url: string, pages: readonly PagePair[]): Promise<TurnPagesOutput> {
  const input: TurnPagesInput = { url, rounds: bench.settings.rounds, pages }
  const child = await startChild<TurnPagesOutput>(
    bench.node,
    new URL('../pages/turn-pages.child.ts', import.meta.url),
    input,
  )
  const output = await child.tell('go')
  await child.end()
  return output
}

function ratioOf({ smallMs, largeMs }: TurnPagesOutput[number], to: string): Ratio {
  const values = largeMs.map((ms, round) => ms / smallMs[round]!)
  return { to, value: median(values), range: rangeOf(values), bar }
}
