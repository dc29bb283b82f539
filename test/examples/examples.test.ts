// Runs every example and checks that it does what its first lines say. `pages.test.ts` ties the README and docs/ to
// them.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { patience } from '../support/patience.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
const run = promisify(execFile)

test('the first look accepts, works, retries, takes over, and finds the work again after a restart', async () => {
  const shown = await runExample('first-look.ts')
  expect(shown).toMatch(/^created +\{fp:\d+\}:[\da-f-]{36}$/m)
  expect(shown).toMatch(/^duplicate +\{fp:\d+\}:[\da-f-]{36}$/m)
  expect(shown).toContain('refused    policy.retry.attempts is 0; it must be a whole number from 1 to 1000')
  expect(shown).toContain("close-books    finance  waiting  waiting for a worker on lane 'finance'")
  expect(shown).toContain('charge-card (first, attempt 1) failed: Error: the bank did not answer; retry_scheduled')
  expect(shown).toContain('charge-card (retry, attempt 2) is done')
  expect(shown).toContain('render-report (reclaim, attempt 1) is done')
  expect(shown).toMatch(/lapsed +doomed, epoch 1\nacquired +steady, epoch 2\nended +success +steady, epoch 2/)
  expect(shown).toMatch(/invalid_input: state is "wating"; it must be one of waiting, .*; did you mean waiting\?/)
  expect(shown).toContain('1 waiting, 1 delayed, 3 completed')
})

test('a worker that is killed in the middle of each step loses nothing, and each effect occurs once', async () => {
  const shown = await runExample('crash.ts')
  const [title, ...lines] = shown.split('\n').slice(2)
  expect(title).toBe('               reserve seats    charge card      send tickets')
  const [first, second, third, last, ...counts] = lines.map((line) => line.replace(/^worker \d+ +/, ''))
  // On a busy machine a worker may lose its lease to itself, and then repeats work that was not recorded yet.
  const known = '(✓ done|· recorded) +'
  expect(first).toBe('✗ killed')
  expect(second).toMatch(new RegExp(`^${known}✗ killed$`))
  expect(third).toMatch(new RegExp(`^(${known}){2}✗ killed$`))
  expect(last).toMatch(new RegExp(`^(${known}){3}2 seats are booked$`))
  expect(counts).toEqual([
    '',
    expect.stringMatching(/^begun( +\d times){3}$/),
    expect.stringMatching(/^effect seen( +once){3}$/),
    '',
  ])
})

test('a saga undoes its bookings, the last one first', { timeout: patience(300_000) }, async () => {
  const lines = (await runOnPostgres('saga.ts')).trimEnd().split('\n')
  const [error, ...steps] = lines.splice(7)
  expect(lines).toEqual([
    'flight booked',
    'hotel booked',
    'cancelling hotel',
    'hotel cancelled',
    'cancelling flight',
    'flight cancelled',
    'no trip to Lisbon',
  ])
  expect(error).toContain('no car is left in Lisbon')
  expect(steps.map((line) => line.split(/ {2,}/).slice(0, 2).join(' '))).toEqual([
    'step book flight',
    'step book hotel',
    'step book car',
    'hook clean-up after a failure',
    'compensation cancel hotel',
    'compensation cancel flight',
    'step hook: write to customer',
    'hook onCancel',
  ])
})

test('an agent waits for a human approval before the dangerous tool, and runs the tool once', async () => {
  const lines = (await runOnPostgres('agent.ts')).split('\n')
  const waiting = lines.splice(2, 1)[0]
  expect(waiting).toMatch(/^Has been suspended since .* waiting for .*permission to refund/)
  expect(lines).toEqual([
    'search 4711 (search:0)',
    'may it refund 4711?',
    'refund 4711 (refund:0)',
    'Your money is on its way.',
    '',
  ])
})

test(
  'the first of three providers wins, and the losers are cancelled and aborted',
  { timeout: patience(300_000) },
  async () => {
    const shown = await runOnPostgres('fastest.ts')
    expect(shown.split('\n').toSorted()).toEqual([
      '',
      'cancelled, cancelled, completed',
      'quick says 42',
      'slow is asked to stop',
      'steady is asked to stop',
    ])
  },
)

test(
  'a codec seals user data, and the database contains none of it in plain text',
  { timeout: patience(300_000) },
  async () => {
    const lines = (await runOnPostgres('encrypted.ts')).split('\n')
    expect(lines[0]).toBe('Ada is well; Grace agrees')
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^input: \d+ bytes, sealed$/),
      expect.stringMatching(/^step: \d+ bytes, sealed$/),
      '',
    ])
  },
)

test('the first program of the README needs only Node', async () => {
  expect(await runExample('hello.ts', { FLOWFABRIC_URL: 'memory:' })).toBe('hello, world\n')
})

test('a customer is onboarded, with a second try after the first fails', async () => {
  const shown = await runOnPostgres('onboarding.ts')
  expect(shown.split('\n').slice(0, 6)).toEqual([
    'welcome, ada@example.com (send welcome:0)',
    "{ account: 'account of ada@example.com', approvedBy: 'grace' }",
    'step  create account tries: 2',
    'sleep cool off       tries: 1',
    'wait  approval       tries: 1',
    'step  send welcome   tries: 1',
  ])
})

const onPostgres = [
  ['submit.ts', 'send-welcome is waiting\nwaiting in lane mail: 1\ncancelled\n'],
  ['policy.ts', '4 attempts in lane mail\nsent to ada\n'],
  ['wait.ts', 'resume ada\n'],
  ['pipeline.ts', 'shop:4f2a91 is live, agreed by grace and ada\ncompleted 5 1\n'],
  ['schedule.ts', 'report of north\n'],
  ['within.ts', 'order 7 is on its way\n'],
  ['server.ts', 'hello, ada\n'],
] as const

test.each(onPostgres)('%s prints the expected lines', async (name, printed) => {
  expect(await runOnPostgres(name)).toBe(printed)
})

test(
  'among many inputs, a bad one is refused at its position, and middleware wraps every run',
  { timeout: patience(300_000) },
  async () => {
    const lines = (await runOnPostgres('many.ts')).trimEnd().split('\n')
    const [took, others] = [/^resize took \d+ ms$/, lines.filter((line) => !line.startsWith('resize'))]
    expect(lines.filter((line) => took.test(line))).toHaveLength(2)
    expect(others).toEqual(['100 pixels', 'refused: invalid_tag', '400 pixels'])
  },
)

test('a test of durable code passes under node:test', async () => {
  const { stdout } = await node(['--import', 'tsx', '--test', '--test-reporter', 'tap', example('testing.ts')])
  expect(stdout).toContain('ok 1 - a busy service and a killed worker lose nothing')
  expect(stdout).toContain('# fail 0')
})

test('the spans of a submit, its run and its step belong to one trace', async () => {
  // On our sources in place of a build.
  const paths = { flowfabric: [join(root, 'src/index.ts')], 'flowfabric/*': [join(root, 'src/*.ts')] }
  const folder = await temporaryFolder()
  const tsconfig = join(folder, 'tsconfig.json')
  await writeFile(tsconfig, JSON.stringify({ compilerOptions: { allowJs: true, paths } }))
  const { stdout } = await node([tsx, '--tsconfig', tsconfig, example('tracing.js')], {
    FLOWFABRIC_URL: await databaseUrl(),
  })
  const spans = stdout.split('\n').filter((line) => line.includes(' ') && line !== 'hello, world')
  expect(spans.map((span) => span.replace(/ \w+$/, '')).toSorted()).toEqual(['run hello', 'step greet', 'submit hello'])
  expect(new Set(spans.map((span) => span.split(' ').at(-1)))).toHaveLength(1)
})

async function runOnPostgres(name: string): Promise<string> {
  return runExample(name, { FLOWFABRIC_URL: await databaseUrl() })
}

async function databaseUrl(): Promise<string> {
  const database = await createDatabase(inject('postgres').url)
  onTestFinished(() => database.drop())
  return database.url
}

async function runExample(name: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await node([tsx, example(name)], { TMPDIR: await temporaryFolder(), ...env })
  return stdout
}

function node(args: readonly string[], env: Record<string, string> = {}): Promise<{ stdout: string }> {
  return run(process.execPath, args, { cwd: root, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } })
}

function example(name: string): string {
  return join(root, 'examples', name)
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flowfabric-example-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
