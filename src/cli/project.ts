// The files that `flowfabric init` writes: a task, its test, and a script that runs it.
import { codeVersion } from '../model/version.ts'

/** By path, in the order in which a person reads them. */
export function projectFiles(name: string): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageJson(name)],
    ['tasks.ts', tasks],
    ['tasks.test.ts', test],
    ['start.ts', start],
    ['tsconfig.json', tsconfig],
    ['.gitignore', 'node_modules\n.flowfabric\n'],
  ])
}

function packageJson(name: string): string {
  const content = {
    name,
    private: true,
    type: 'module',
    scripts: {
      dev: 'flowfabric dev tasks.ts',
      start: 'tsx start.ts',
      test: 'node --import tsx --test tasks.test.ts',
      types: 'tsc --noEmit',
    },
    dependencies: { flowfabric: `^${codeVersion}` },
    devDependencies: { '@types/node': '^20.19.0', tsx: '^4.20.0', typescript: '>=5.8' },
    engines: { node: '>=20.19' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

const tasks = `// Durable code: when a run resumes, the function starts from the top, and finished steps return their saved results.
import { task } from 'flowfabric'

interface Order {
  readonly id: string
  readonly amount: number
}

export const fulfil = task('fulfil', { example: { id: 'order-1', amount: 42 } }, async (ctx, order: Order) => {
  const payment = await ctx.step('charge card', ({ idempotencyKey }) => charge(order, idempotencyKey))
  // Large orders wait for approval and hold no worker meanwhile: flowfabric approve <id>
  if (order.amount > 1000) {
    const answer = (await ctx.waitFor('approval', { timeout: '2d' })) as { approved?: boolean }
    if (!answer.approved) return ctx.cancel('refused')
  }
  await ctx.sleep('let it settle', '2s')
  const parcel = await ctx.step('send parcel', () => \`parcel of \${order.id}\`)
  return { payment, parcel }
})

// Pass the key to the payment provider, so that a step that a crash interrupted does not charge twice.
async function charge(order: Order, idempotencyKey: string): Promise<string> {
  console.log(\`charging \${order.amount} for \${order.id} (\${idempotencyKey.slice(-12)})\`)
  return \`payment of \${order.amount}\`
}
`

const test = `import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testEngine } from 'flowfabric/testing'
import { fulfil } from './tasks.ts'

const t = await testEngine({ tasks: [fulfil] })
after(() => t.close())

test('an order is paid and sent', async () => {
  const done = await t.run(fulfil, { id: 'a', amount: 42 })
  assert.deepEqual(done, { payment: 'payment of 42', parcel: 'parcel of a' })
})

test('a large order waits for approval, for days if needed', async () => {
  const run = await t.submit(fulfil, { id: 'b', amount: 5000 })
  await t.advance('1d')
  assert.equal(await run.state(), 'suspended')
  await t.signal(run, 'approval', { approved: true })
  await t.advance('2s')
  assert.equal(await run.state(), 'completed')
})

test('a crash does not charge twice', async () => {
  const run = await t.submit(fulfil, { id: 'c', amount: 42 })
  await t.crashWorker()
  await t.advance('5m')
  assert.equal(await run.state(), 'completed')
  const history = await run.history()
  history.assertSteps([{ name: 'charge card', tries: 1 }, 'let it settle', 'send parcel'])
})
`

const start = `// Submits an order, runs it, and prints its result. The database is ./.flowfabric, or the one in FLOWFABRIC_URL.
import { connect } from 'flowfabric'
import { fulfil } from './tasks.ts'

const ff = await connect(process.env['FLOWFABRIC_URL'] || 'file:./.flowfabric')
const worker = ff.worker({ tasks: [fulfil] })
await worker.start()

const run = await ff.submit(fulfil, { id: 'order-1', amount: 42 })
console.log(\`submitted \${run.id}\`)
console.log(await run.result())
await ff.close()
`

const tsconfig = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: ['node'],
    },
    include: ['*.ts'],
  },
  null,
  2,
)}\n`
