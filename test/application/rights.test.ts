// The rights of a role that works with a schema and does not own it.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { repairHealth } from '../../src/engine/health/repair.ts'
import { codeVersion } from '../../src/model/version.ts'
import { grantsOn } from '../../src/sql/grants.ts'
import { fenceOf, take } from '../engine/execution/holder.ts'
import { typed } from '../cli/typed.ts'
import { emptyDatabase, open, run } from '../connect/empty-database.ts'
import { engineStatements } from '../support/engine-statements.ts'
import { rows } from '../support/raw.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { fillReady } from '../support/changes.ts'
import * as stored from '../support/stored.ts'

const engine = new URL('../../src/engine/', import.meta.url)
for (const file of await readdir(engine, { recursive: true })) {
  if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, engine)))
}

/** A role without any right, and the URL by which it connects. */
async function newRole(url: string): Promise<{ role: string; asRole: string }> {
  const role = `app "${new URL(url).pathname.slice(-8)}"`
  const quoted = `"${role.replaceAll('"', '""')}"`
  await run(url, `create role ${quoted} login password 'x'`)
  onTestFinished(async () => void (await run(url, `drop owned by ${quoted}`, `drop role ${quoted}`)))
  const other = new URL(url)
  other.username = encodeURIComponent(role)
  other.password = 'x'
  return { role, asRole: other.href }
}

test('every statement of the engine may be run', async () => {
  const { sql } = await setup()
  const refused: string[] = []
  for (const { name, params, text } of engineStatements()) {
    if (/^(dump|grant|migration|testing)\./.test(name)) continue
    const nulls = Object.keys(params).map(() => 'null')
    const given = nulls.length === 0 ? '' : `(${nulls.join(', ')})`
    const prepared = `"application ${name}"`
    await sql
      .transaction(async (tx) => {
        await tx.script('set local plan_cache_mode = force_generic_plan')
        await tx.script(`prepare ${prepared} as ${text}`)
        await tx.script(`explain execute ${prepared} ${given}`)
        await tx.script(`deallocate ${prepared}`)
      })
      .catch((error: unknown) => refused.push(`${name}: ${String(error)}`))
  }
  expect(refused).toEqual([])
})

test('the documentation lists the grants', async () => {
  const page = await readFile(new URL('../../docs/deployment.md', import.meta.url), 'utf8')
  expect(page).toContain(`\`\`\`sql\n${grantsOn('flowfabric', 'app')}\`\`\`\n`)
})

test.each(['flowfabric', `it's "odd" $1`])(
  'connect grants a role the rights that it needs on schema %s',
  async (schema) => {
    const url = await emptyDatabase()
    const { role, asRole } = await newRole(url)
    const owner = await open(url, { schema, grantTo: role })
    const ff = await open(asRole, { schema, migrate: 'check' })
    await run(
      url,
      `select setval('"${schema.replaceAll('"', '""').replaceAll("'", "''")}".ff_event_id', 10000000, false)`,
    )
    await ff.engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }])
    await ff.engine.executions.complete(fenceOf(await take(ff.engine)))
    await ff.engine.executions.complete(fenceOf(await take(ff.engine)))
    const blocks = await run(url, `select from pg_class where relname = 'ff_event_10000001' and relispartition`)
    expect(blocks[0]!.rowCount).toBe(1)
    const { findings } = await ff.health.check()
    expect(findings.find(({ check }) => check === 'event log')).toMatchObject({ verdict: 'fine' })
    await owner.close()
  },
)

test('a role that does not exist, and one that may not grant, are refused', async () => {
  const url = await emptyDatabase()
  const { role, asRole } = await newRole(url)
  const unknown = await refusal('invalid_input', connect(url, { grantTo: 'no such role' }))
  expect(unknown.message).toContain('"no such role"; create it first')
  await open(url, { grantTo: role })
  const other = await refusal('database_right_missing', connect(asRole, { grantTo: inject('postgres').application }))
  expect(other.message).toMatch(/owner/)
})

test('flowfabric migrate --grant-to grants the rights', async () => {
  const url = await emptyDatabase()
  const { role, asRole } = await newRole(url)
  const { code, out } = await typed(['migrate', '--url', url, '--grant-to', role])
  expect(out).toContain(`Role ${role} now has the rights of a worker or server.`)
  expect(code).toBe(0)
  expect(await typed(['migrate', '--check', '--url', asRole])).toMatchObject({ code: 0 })
  expect(await typed(['submit', 'k', '--url', asRole])).toMatchObject({ code: 0 })
  expect(await typed(['migrate', '--check', '--grant-to', role, '--url', url])).toMatchObject({ code: 2 })
})

test('a repair reports a table that the role may not vacuum', async () => {
  const { sql } = await setup()
  await fillReady(sql, 20_000)
  await stored.ready.remove(sql)
  await sql.script('select pg_stat_force_next_flush()')
  const sentence = `${stored.ready.name} was not vacuumed: only its owner can do that`
  await expect.poll(() => repairHealth(sql, codeVersion)).toContainEqual({ kind: 'failed', sentence })
})

test('only granted roles may execute the functions that change the schema', async () => {
  const { sql } = await setup()
  const ofPublic = `
    select p.proname::text as name from pg_proc p
    where p.pronamespace = 'flowfabric'::regnamespace and p.prosecdef
      and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0)
        or not 'search_path=pg_catalog, pg_temp' = any (p.proconfig))`
  expect(await rows(sql, ofPublic)).toEqual([])
})
