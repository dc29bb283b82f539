// Recorded runs as files, and changed code against them.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonCodec } from '../../src/model/codec.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import type { Context } from '../../src/worker/context.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { build, ownFolder } from './built.ts'
import { typing } from './typed.ts'

const flowfabric = build()

/** Two runs of `order`, the second with version 1, as `flowfabric export` writes them. */
async function exported() {
  const cli = await typing()
  const code = async (ctx: Context) => {
    await ctx.step('charge', () => 'charged')
    await ctx.step('send', () => 'sent')
  }
  const tasks = [task('order', code), task('order', { version: '1' }, code)]
  const worker = new Worker({ tasks, handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const ids: ExecutionId[] = []
  for (const version of [{}, { version: '1' }]) {
    const { executionId } = await cli.engine.executions.create({ kind: 'order', ...version })
    ids.push(executionId)
  }
  while ((await worker.tick()) > 0);
  await worker.stop()
  const folder = await ownFolder()
  const runs = join(folder, 'runs')
  const written = await cli.typeWith({ stdin: `${ids.join('\n')}\n` }, 'export', '-', '--to', runs)
  expect(written.code).toBe(0)
  return { cli, folder, runs, ids }
}

async function tasksFile(folder: string, ...steps: string[]): Promise<string> {
  const path = join(folder, 'tasks.mjs')
  const lines = steps.map((step) => `  await ctx.step(${JSON.stringify(step)}, () => { throw new Error('it ran') })`)
  const index = JSON.stringify(join(flowfabric.folder, 'index.js'))
  await writeFile(
    path,
    `import { task } from ${index}\nexport const order = task('order', async (ctx) => {\n${lines.join('\n')}\n})\n`,
  )
  return path
}

test('verify ends with 1 and names the step when a recorded step was replaced, and with 0 when none was', async () => {
  const { folder, runs, ids, cli } = await exported()
  expect(await readdir(runs)).toHaveLength(2)
  const verified = async (...steps: string[]) =>
    flowfabric.run('memory:', 'verify', await tasksFile(folder, ...steps), runs)

  const same = await verified('charge', 'send')
  expect(same).toMatchObject({ code: 0, stderr: '' })
  expect(same.stdout).toContain('2 recorded runs: 1 same, 1 skipped\n')
  expect(same.stdout).toContain('was recorded with version "1" of "order"')

  const replaced = await verified('charge', 'ship')
  expect(replaced.code).toBe(1)
  expect(replaced.stdout).toContain(`differs  ${runs}`)
  expect(replaced.stdout).toContain('reaches the new step "ship" after "charge" where "send" is recorded')

  const added = await verified('charge', 'send', 'thank')
  expect(added.code).toBe(0)
  expect(added.stdout).toContain('reaches the new step "thank" after "send"')

  const inserted = await tasksFile(folder, 'check', 'charge', 'send')
  expect((await flowfabric.run('memory:', 'verify', inserted, runs)).code).toBe(1)
  const allowed = await flowfabric.run('memory:', 'verify', inserted, runs, '--allow-new', 'anywhere', '--json')
  expect(allowed.code).toBe(0)
  expect(JSON.parse(allowed.stdout)).toMatchObject({
    ok: true,
    runs: expect.arrayContaining([expect.objectContaining({ kind: 'new', met: 'check' })]),
  })

  // Printed, a line for each, they are one file.
  const lines = join(folder, 'runs.jsonl')
  await writeFile(lines, (await cli.type('export', ...ids)).out)
  const gone = await tasksFile(folder, 'charge', 'send')
  await writeFile(
    gone,
    `import { task } from ${JSON.stringify(join(flowfabric.folder, 'index.js'))}\nexport const other = task('other', () => 1)\n`,
  )
  const missing = await flowfabric.run('memory:', 'verify', gone, lines)
  expect(missing.code).toBe(1)
  expect(missing.stdout).toContain('exports no task "order"')
})

test('files without a recorded run, and unknown executions, are refused', async () => {
  const cli = await typing()
  const folder = await ownFolder()
  await writeFile(join(folder, 'bad.json'), '{"format":"other"}')
  const bad = await cli.type('verify', 'tasks.ts', join(folder, 'bad.json'))
  expect([bad.code, bad.err]).toEqual([
    2,
    expect.stringContaining('bad.json cannot be read: a recorded run is an object'),
  ])
  const none = await cli.type('verify', 'tasks.ts', join(folder, 'none'))
  expect([none.code, none.err]).toEqual([
    2,
    expect.stringContaining('name files or directories that flowfabric export wrote'),
  ])
  const unknown = await cli.type('export', '{fp:7}:0190b6d2-0000-7000-8000-000000000000')
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('does not exist')])
})
