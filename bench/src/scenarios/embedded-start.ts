// The cost of a start on the embedded database: the first on a new directory, with the image of the package and without
// one, and one on an existing directory.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startChild } from '../child.ts'
import { compiled } from '../compile.ts'
import { median } from '../median.ts'
import type { Bar, Bench, Scenario } from '../scenario.ts'
import type { HelloInput, HelloOutput } from '../start/hello.child.ts'
import { rowOf, type Turn } from '../turn.ts'

const labels = ['first start, no image', 'first start', 'later start'] as const
type Label = (typeof labels)[number]
const bar: Bar = { direction: 'at most', must: 0.75, aim: 0.5 }

const root = fileURLToPath(new URL('../../../', import.meta.url))
const file = new URL('../start/hello.child.ts', import.meta.url)
const image = new URL('../../../src/sql/embedded-image.ts', import.meta.url)

export const embeddedStart: Scenario = {
  name: 'embedded-start',
  title: 'processor time of hello-world on the embedded database, from the start of the process',
  async run(bench) {
    // As prepack does it for the package.
    const folder = dirname(fileURLToPath(compiled(image)))
    await promisify(execFile)(process.execPath, ['--import', 'tsx', join(root, 'scripts/image.ts'), folder])
    const measured = new Map<Label, HelloOutput[]>(labels.map((label) => [label, []]))
    const turns = new Map<string, Turn[]>(labels.map((label) => [label, []]))
    for (let round = 1; round <= bench.settings.rounds; round++) {
      for (const [label, output] of await measure(bench)) {
        measured.get(label)!.push(output)
        turns.get(label)!.push({ round, value: output.processorMs, probeValue: 1 })
      }
      for (const label of labels) bench.say(`round ${round}, ${describe(label, [measured.get(label)!.at(-1)!])}`)
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'ms',
      baseline: labels[0],
      rows: labels.map((label) => rowOf(turns, label, [{ to: labels[0], ...(label !== labels[0] && { bar }) }])),
      notes: [
        'the first start creates the database; without an image PGlite runs initdb, as in a checkout that has run no tests',
        'most of the peak of memory is V8, which optimises the WebAssembly of Postgres beside the first statements; Node 24 takes more for it than Node 20',
        ...labels.map((label) => describe(label, measured.get(label)!)),
      ],
    }
  },
}

async function measure(bench: Bench): Promise<[Label, HelloOutput][]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'))
  try {
    const without = await run(bench, { url: `file:${join(folder, 'without')}`, schema: 'bench' })
    const input: HelloInput = { url: `file:${join(folder, 'with')}`, schema: 'flowfabric' }
    return [
      [labels[0], without],
      [labels[1], await run(bench, input)],
      [labels[2], await run(bench, input)],
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(bench: Bench, input: HelloInput): Promise<HelloOutput> {
  const child = await startChild<HelloOutput>(bench.node, file, input)
  const output = await child.tell('go')
  await child.end()
  return output
}

function describe(label: Label, outputs: readonly HelloOutput[]): string {
  const of = (name: keyof HelloOutput): number => median(outputs.map((output) => output[name]))
  const seconds = (of('processorMs') / 1000).toFixed(2)
  return `${label}: ${seconds} s of processor, at most ${of('residentMB').toFixed(0)} MB resident`
}
