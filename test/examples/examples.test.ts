// What the README shows is what runs.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

test('the first look accepts, works, retries, takes over, and finds the work again after a restart', async () => {
  const shown = await runExample('first-look.ts')
  expect(shown).toMatch(/^created +\{fp:\d+\}:[\da-f-]{36}$/m)
  expect(shown).toMatch(/^duplicate +\{fp:\d+\}:[\da-f-]{36}$/m)
  expect(shown).toContain('refused    policy.retry.attempts is 0; it must be a whole number from 1 to 1000')
  expect(shown).toContain("close-books    finance  waiting  waits for a worker on lane 'finance'")
  expect(shown).toContain('charge-card (first, attempt 1) failed: Error: the bank did not answer; retry_scheduled')
  expect(shown).toContain('charge-card (retry, attempt 2) is done')
  expect(shown).toContain('render-report (reclaim, attempt 1) is done')
  expect(shown).toMatch(/lapsed +doomed, epoch 1\nacquired +steady, epoch 2\nended +success +steady, epoch 2/)
  expect(shown).toContain('invalid_input: state is "wating"; did you mean waiting?')
  expect(shown).toContain('1 waiting, 1 delayed, 3 completed')
})

test('the programs in the README are the examples, and they run', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const programs = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1])
  const examples = ['submit.ts', 'wait.ts']
  expect(programs).toEqual(await Promise.all(examples.map((name) => readFile(join(root, 'examples', name), 'utf8'))))
  const shown = await Promise.all(examples.map((name) => runExample(name, { FLOWFABRIC_URL: 'memory:' })))
  expect(shown).toEqual(['', 'resume ada\n'])
})

async function runExample(name: string, env: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flowfabric-example-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
  const { stdout } = await run(process.execPath, [tsx, join(root, 'examples', name)], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, ...env },
  })
  return stdout
}
