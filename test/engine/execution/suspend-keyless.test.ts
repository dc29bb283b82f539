import { expect, test } from 'vitest'
import { createEngine } from '../../../src/engine/engine.ts'
import type { Condition } from '../../../src/model/condition.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held } from './holder.ts'

test('without the secret that opens the signing key, only suspends that open a waitpoint are refused, and the lease is kept', async () => {
  const { sql } = await setup()
  const theirs = createEngine(sql, { signing: { wrappingSecret: 'a secret of the operator' } })
  await theirs.signingKeys.rotate()
  const engine = createEngine(sql)
  const claims = [await held(engine), await held(engine), await held(engine), await held(engine)]
  const { executionId: child } = await engine.executions.create({ kind: 'child', parentId: claims[2]!.executionId })
  const conditions: Condition[] = [
    { kind: 'signal', waitpoint: 'answer' },
    { kind: 'time', at: (await engine.serverTime()) + 60_000 },
    { kind: 'child', executionId: child },
    { kind: 'signal', name: 'go' },
  ]
  const asked = claims.map((claim, index) => ({ ...fenceOf(claim), condition: conditions[index]! }))
  expect(await engine.executions.suspendMany(asked)).toMatchObject([
    { kind: 'refused', error: { code: 'wrong_wrapping_secret' } },
    { kind: 'suspended' },
    { kind: 'suspended' },
    { kind: 'suspended' },
  ])
  await engine.executions.complete(fenceOf(claims[0]!))
})
