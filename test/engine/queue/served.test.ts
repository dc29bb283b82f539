import { expect, test } from 'vitest'
import { QueueMatcher } from '../../../src/engine/queue/match.ts'
import { mismatchOf } from '../../../src/model/served.ts'
import { setup } from '../../support/setup.ts'

const needs = ['a', 'b'].flatMap((kind) =>
  [null, '1'].flatMap((version) => [[], ['x'], ['x', 'y']].map((capabilities) => ({ kind, version, capabilities }))),
)
const offers = [null, ['a'], ['a', 'b']].flatMap((kinds) =>
  [[], ['1', '2']].flatMap((versions) =>
    [[], ['x'], ['x', 'y', 'z']].map((capabilities) => ({ kinds, versions, capabilities })),
  ),
)

test('a claim reads exactly the queues that it serves according to the model', async () => {
  const { engine, sql } = await setup()
  for (const { kind, version, capabilities } of needs) {
    await engine.executions.create({ kind, requiredCapabilities: capabilities, ...(version !== null && { version }) })
  }
  const matcher = new QueueMatcher(sql)
  for (const served of offers) {
    const queues = await matcher.match({ namespaces: null, lanes: ['default'], ...served })
    expect(queues.size).toBe(needs.filter((needed) => mismatchOf(served, needed) === null).length)
  }
})
