import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { setup } from '../../support/setup.ts'
import { flowOf, randomFrom, recipes } from './random-flow.ts'
import { trial } from './trial.ts'
import { patience } from '../../support/patience.ts'

const numRuns = Number(process.env['FLOW_RUNS'] ?? 15)

// `FLOW_RUNS=500 npx vitest run --project postgres test/engine/flow/random-dags.test.ts` runs more of them.
test(
  `any flow ends as the reference says, whichever process dies on the way, and nothing is stranded`,
  { timeout: patience(numRuns * 20_000) },
  async () => {
    const fixture = await setup({ dispatch: false })
    await fc.assert(
      fc.asyncProperty(recipes, fc.nat(), async (recipe, seed) => {
        await trial(fixture, randomFrom(seed), flowOf(recipe))
        expect(await checkInvariants(fixture.sql)).toEqual([])
      }),
      { numRuns, endOnFailure: true },
    )
  },
)
