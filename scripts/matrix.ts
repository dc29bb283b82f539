// npm run test:matrix
//
// Runs the suite that both backends share on the oldest Postgres and on the newer versions of Node. npm's package
// `node` provides those, so that nothing has to be installed on the machine.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

interface Cell {
  readonly node: string
  readonly postgres: '15' | '18'
}

const cells: readonly Cell[] = [
  { node: 'this', postgres: '15' },
  { node: '22', postgres: '18' },
  { node: '24', postgres: '18' },
  { node: '24', postgres: '15' },
]
const tests = ['--project', 'embedded', '--project', 'postgres', 'test/engine', 'test/conformance']

const results: Result[] = []
for (const cell of cells) {
  const result = await run(cell)
  results.push(result)
  if (!result.isPassed) console.error(result.output)
}
printTable(results)
process.exitCode = results.every((result) => result.isPassed) ? 0 : 1

interface Result extends Cell {
  readonly isPassed: boolean
  readonly nodeVersion: string
  readonly summary: string
  readonly seconds: number
  readonly output: string
}

async function run(cell: Cell): Promise<Result> {
  const startedAt = performance.now()
  const version = await start(cell, ['--version'])
  const { code, output } = await start(cell, ['node_modules/vitest/vitest.mjs', 'run', ...tests])
  return {
    ...cell,
    isPassed: code === 0,
    nodeVersion: version.output.trim(),
    // Written by the summary reporter; without it the run did not get as far as its tests.
    summary: /^\d+ passed, \d+ failed$/m.exec(output)?.[0] ?? 'did not run',
    seconds: (performance.now() - startedAt) / 1000,
    output,
  }
}

async function start(cell: Cell, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const command = cell.node === 'this' ? [process.execPath] : ['npx', '--yes', `--package=node@${cell.node}`, 'node']
  const [file = '', ...before] = command
  const child = spawn(file, [...before, ...args], {
    env: { ...process.env, TEST_POSTGRES_VERSION: cell.postgres, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const output = await text(child.stdout)
  return { code: await exited, output }
}

function printTable(rows: readonly Result[]): void {
  console.log(`${'node'.padEnd(12)}${'postgres'.padEnd(10)}${'seconds'.padStart(7)}  result`)
  for (const row of rows) {
    console.log(
      `${row.nodeVersion.padEnd(12)}${row.postgres.padEnd(10)}${row.seconds.toFixed(0).padStart(7)}  ${row.summary}`,
    )
  }
}
