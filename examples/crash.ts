// A worker is killed (SIGKILL) in the middle of every step, in turn. Each time another one takes over. Recorded steps
// do not run again. The interrupted step runs again with the same idempotency key, by which the outside world refuses a
// second effect.
//
//   npm run demo
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, task, type StepTry } from 'flowfabric'

const steps = ['reserve seats', 'charge card', 'send tickets'] as const

type Step = (typeof steps)[number]
type Said =
  | { step: Step; is: 'running' | 'done' | 'recorded' }
  | { step: Step; is: 'in the middle' }
  | { booked: string }

const words = { running: '▸ running', done: '✓ done', recorded: '· recorded', 'in the middle': '✗ killed' } as const

const [folder, doomed] = process.argv.slice(2)
await (folder === undefined ? watch() : work(folder, doomed))

/** The working process. It hangs in the middle of the step in which it is to die. */
async function work(place: string, victim: string | undefined): Promise<void> {
  const book = task('book', async (ctx, { seats }: { seats: number }) => {
    for (const step of steps) {
      let isOurs = false
      await ctx.step(step, (attempt) => {
        isOurs = true
        return act(place, step, attempt, step === victim)
      })
      say({ step, is: isOurs ? 'done' : 'recorded' })
    }
    return `${seats} seats are booked`
  })
  // The demo prints only the table.
  const ff = await connect(`file:${join(place, 'database')}`, { logger: false })
  const worker = ff.worker({ tasks: [book], leaseTtl: '2s', duties: { intervals: { 'lease-expiry': '100ms' } } })
  await worker.start()
  // Every process submits it: the key makes it one execution.
  const run = await ff.submit(book, { seats: 2 }, { idempotencyKey: 'order 4711' })
  say({ booked: await run.result() })
  await ff.close()
  process.disconnect()
}

async function act(place: string, step: Step, { idempotencyKey }: StepTry, isDoomed: boolean): Promise<void> {
  say({ step, is: 'running' })
  const receipt = join(place, `effect of ${step} ${idempotencyKey.replaceAll(/[^\w]+/g, '-')}`)
  // The outside world: it acts once for each key.
  await writeFile(receipt, '', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if (!isDoomed) return
  say({ step, is: 'in the middle' })
  await new Promise(() => {})
}

function say(said: Said): void {
  process.send!(said)
}

/** The watching process: it starts workers, kills them, and prints a line for each. */
async function watch(): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'flowfabric-crash-'))
  const begun = new Map<Step, number>()
  console.log(
    'Two seats are booked in three durable steps. Each worker is killed in the middle of a step; the next one continues.\n',
  )
  console.log(line('', steps))
  for (const victim of [...steps, null]) {
    const cells: string[] = []
    const worker = fork(fileURLToPath(import.meta.url), [place, victim ?? 'nobody'], {
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    })
    const draw = (): void =>
      void (process.stdout.isTTY && process.stdout.write(`\r${line(`worker ${worker.pid}`, cells)}`))
    worker.on('message', (said: Said) => {
      if ('booked' in said) cells.push(said.booked)
      else cells[steps.indexOf(said.step)] = words[said.is]
      if ('is' in said && said.is === 'running') begun.set(said.step, (begun.get(said.step) ?? 0) + 1)
      if ('is' in said && said.is === 'in the middle') worker.kill('SIGKILL')
      draw()
    })
    await once(worker, 'exit')
    console.log(`${process.stdout.isTTY ? '\r' : ''}${line(`worker ${worker.pid}`, cells)}`)
  }
  const effects = await readdir(place)
  const seen = steps.map((step) => effects.filter((name) => name.startsWith(`effect of ${step} `)).length)
  console.log(
    `\n${line(
      'begun',
      steps.map((step) => times(begun.get(step) ?? 0)),
    )}`,
  )
  console.log(line('effect seen', seen.map(times)))
  await rm(place, { recursive: true })
}

function line(title: string, cells: readonly (string | undefined)[]): string {
  return [title.padEnd(13), ...cells.map((cell = '') => cell.padEnd(15))].join('  ').trimEnd()
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
