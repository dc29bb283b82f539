// A measurement runs in a process of its own, on the same Node for all: it prepares itself, reports that it is ready,
// and then obeys orders. So no contestant is measured while it starts, and none shares an event loop or a heap with
// another.
import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { compiled } from './compile.ts'

// Warnings about a peer's use of `pg` do not concern us.
const quiet = ['--disable-warning=DeprecationWarning']

export interface Child<Output, Order> {
  readonly pid: number
  tell(order: Order): Promise<Output>
  end(): Promise<void>
}

/** Resolves when the child is ready. */
export async function startChild<Output, Order = 'go'>(
  node: string,
  file: URL,
  input: unknown,
): Promise<Child<Output, Order>> {
  const child = fork(compiled(file), [JSON.stringify(input)], {
    execPath: node,
    execArgv: [...quiet, ...profiling()],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`${fileURLToPath(file)} ended (${code}) before it had answered`)
  })
  // The end of the process after its reply is no failure, and no caller awaits it then.
  failed.catch(() => {})
  const next = async () => (await Promise.race([once(child, 'message'), failed]))[0] as unknown

  await next()
  return {
    pid: child.pid!,
    async tell(order) {
      child.send({ order })
      return (await next()) as Output
    },
    async end() {
      child.send('end')
      await exited
    },
  }
}

// BENCH_PROFILE=<folder> keeps a processor profile of each child.
function profiling(): string[] {
  const folder = process.env['BENCH_PROFILE']
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

export interface Ready<Output, Order> {
  obey(order: Order): Promise<Output>
  close(): Promise<void>
}

/** The child's side. */
export async function serve<Output, Order = 'go'>(
  prepare: (input: unknown) => Promise<Ready<Output, Order>>,
): Promise<void> {
  const ready = await prepare(JSON.parse(process.argv[2]!))
  process.send!('ready')
  for await (const [word] of on(process, 'message')) {
    if (word === 'end') break
    process.send!((await ready.obey((word as { order: Order }).order)) ?? null)
  }
  await ready.close()
  process.disconnect()
}
