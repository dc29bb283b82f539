// The embedded database in a directory, and its behaviour in a shared process.
import { access, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { statement } from '../../src/sql/statement.ts'
import { startChild } from '../support/child.ts'
import { patience } from '../support/patience.ts'

const COUNT = statement({
  name: 'test.kept',
  params: {},
  row: { count: 'int8', last: 'int8' },
  text: 'select count(*) as count, max(id) as last from public.kept',
})
const ONE = statement({ name: 'test.embedded_one', params: {}, row: { one: 'int4' }, text: 'select 1 as one' })

test(
  'rows whose commit a killed process reported are kept, and the next process takes the directory over',
  { timeout: patience(60_000) },
  async () => {
    const directory = await newDirectory()
    const writer = startChild(new URL('./embedded.child.ts', import.meta.url), { args: [directory] })
    let reported = 0
    while (reported < 100) reported = ((await writer.next()) as { id: number }).id
    await expect(openEmbedded({ directory, schema: 'flowfabric' })).rejects.toThrow(`process ${writer.pid}`)
    await writer.kill('SIGKILL')

    const sql = await openEmbedded({ directory, schema: 'flowfabric' })
    const [kept] = await sql.query(COUNT, {})
    expect(kept!.count).toBeGreaterThanOrEqual(reported)
    expect(kept!.last).toBe(kept!.count)
    await expect(openEmbedded({ directory, schema: 'flowfabric' })).rejects.toThrow('this process')
    await sql.close()
    expect(await readdir(directory)).toEqual(['pgdata'])

    const again = await openEmbedded({ directory, schema: 'flowfabric' })
    expect(await again.query(COUNT, {})).toEqual([kept])

    // A caller that queries without a pause leaves room for the timers of the process.
    let ticks = 0
    const timer = setInterval(() => (ticks += 1), 5)
    const giveUpAt = performance.now() + patience(10_000)
    const isStarved = (): boolean => ticks <= 5 && performance.now() < giveUpAt
    while (isStarved()) await again.query(ONE, {})
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
    await again.close()
  },
)

test('a process that is killed while it creates the first files leaves a directory that works', async () => {
  const directory = await newDirectory()
  const child = startChild(new URL('./embedded.child.ts', import.meta.url), { args: [directory] })
  while (!(await isBeingMade(directory))) await setTimeout(5)
  await child.kill('SIGKILL')

  const sql = await openEmbedded({ directory, schema: 'flowfabric' })
  expect(await sql.query(ONE, {})).toEqual([{ one: 1 }])
  await sql.close()
  expect(await readdir(directory)).toEqual(['pgdata'])
})

test('a directory that cannot be initialised is left without new files', async () => {
  const directory = await newDirectory()
  const image = async () => Buffer.from('this is no archive')
  const opening = openEmbedded({ directory, schema: 'flowfabric', image })
  await expect(opening).rejects.toThrow('the archive of the embedded database is damaged')
  expect(await readdir(directory)).toEqual([])
})

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flowfabric-embedded-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function isBeingMade(directory: string): Promise<boolean> {
  const names = await readdir(directory)
  const fresh = names.find((name) => name.startsWith('pgdata.new-'))
  if (fresh === undefined) return false
  return access(join(directory, fresh, 'PG_VERSION')).then(
    () => true,
    () => false,
  )
}
