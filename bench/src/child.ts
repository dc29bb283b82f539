// A measurement runs in a process of its own, on the same Node for all: it makes itself ready, says so, and begins when it
// is told to, as often as it is told. So nobody is measured while he starts, and nobody shares an event loop or a heap with another.
import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface Child<Output> {
  /** Runs what was made ready, once. */
  go(): Promise<Output>
  end(): Promise<void>
}

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

/** Resolves when the child is ready. */
export async function startChild<Output>(node: string, file: URL, input: unknown): Promise<Child<Output>> {
  const child = fork(fileURLToPath(file), [JSON.stringify(input)], {
    execPath: node,
    execArgv: ['--import', loader, ...profiling()],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`${fileURLToPath(file)} ended (${code}) before it had answered`)
  })
  // The end after the answer is no failure, and nobody waits for it then.
  failed.catch(() => {})
  const next = async () => (await Promise.race([once(child, 'message'), failed]))[0] as unknown

  await next()
  return {
    async go() {
      child.send('go')
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

export interface Ready<Output> {
  run(): Promise<Output>
  close(): Promise<void>
}

/** The child's side. */
export async function serve<Output>(prepare: (input: unknown) => Promise<Ready<Output>>): Promise<void> {
  const ready = await prepare(JSON.parse(process.argv[2]!))
  process.send!('ready')
  for await (const [word] of on(process, 'message')) {
    if (word === 'end') break
    process.send!(await ready.run())
  }
  await ready.close()
  process.disconnect()
}
