// Two engines: one writes a tag to an inner flow while the resolver of the other counts that flow's members.
import { expect, onTestFinished, test } from 'vitest'
import { resolveFlows } from '../../src/engine/dispatch/sets.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'

test('the resolver counts a member while a tag of its flow is written', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql, url } = fixture
  const other = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => other.close())
  const names = ['x', 'y'].map((name) => ({ name, kind: name }))
  const flow = await walk(fixture, { members: [{ name: 'i', flow: { kind: 'inner', members: names } }] })
  const inner = flow.inner['i']!
  await inner.endTaken(await inner.take('x'))
  const sameTag = await hold(
    url,
    `insert into ${stored.flowTags.qualified} (flow_id, created_at_ms, namespace, tag_key, tag_value) values ($1, 0, 'default', 'team', 'a')`,
    [inner.uuid],
  )
  const tagged = engine.flows.setTag(inner.flowId, 'team', 'core')
  await sameTag.waiters(1)
  const resolved = resolveFlows(other, 10)
  await Promise.race([resolved, sameTag.waiters(2)])
  await sameTag.release()
  await Promise.all([tagged, resolved])
  while ((await dispatch.runOnce(sql)).processed > 0);
  expect(await inner.row()).toMatchObject({ success_count: 1 })
  await inner.endTaken(await inner.take('y'))
  while ((await dispatch.runOnce(sql)).processed > 0);
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})
