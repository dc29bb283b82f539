import type { Command } from 'commander'
import type { FlowFabric } from '../../connect/flowfabric.ts'
import { creationNotice } from '../../connect/embedded-notice.ts'
import { parseUrl } from '../../connect/url.ts'
import type { RunningServer } from '../../server/serve.ts'
import type { Task } from '../../worker/task.ts'
import { port as portNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import type { TaskLoader } from '../load-tasks.ts'
import { lineLogger, untilInterrupted, type LineLogger } from '../logging.ts'
import { NewestWorker } from '../newest-worker.ts'
import { sampleInput } from '../sample-input.ts'
import { printEvents } from '../print-events.ts'
import { printStarted } from '../print-started.ts'
import { isTaken, listen } from './serve.ts'

interface DevOptions {
  readonly port?: number
  readonly demo: boolean
}

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description('run the database, the server, background duties and your tasks in one process; without tasks, a demo')
    .argument('[tasks]', 'file that exports tasks; it is reloaded when it changes')
    .option(
      '--port <n>',
      'port to listen on; 0 picks a free one (default: 7070, or a free one if it is in use)',
      portNumber,
    )
    .option('--no-demo', 'without a file, run no tasks instead of the demo')
    .addHelpText('after', examples('dev', 'dev tasks.ts', 'dev tasks.ts --url postgres://localhost/app'))
  cli.does(command, async ({ port, demo }: DevOptions, path?: string) => {
    cli.refuseServer('dev')
    const logger = lineLogger(cli)
    const interrupted = untilInterrupted(cli)
    // A file that cannot be loaded is reported before a database is created.
    const loader = path === undefined ? null : await (await import('../load-tasks.ts')).taskLoader(path)
    const loaded = (await loader?.load()) ?? null
    if (!cli.json) cli.err.line(cli.err.colours.dim((await creationNotice(cli.url)) ?? 'starting...'))
    await cli.connected(({ ff }) => run({ cli, ff, logger, interrupted, port, path, loader, loaded, demo }), {
      migrate: true,
      logger,
      ...cli.alone,
    })
  })
}

interface Dev {
  readonly cli: Cli
  readonly ff: FlowFabric
  readonly logger: LineLogger
  readonly interrupted: Promise<void>
  readonly port: number | undefined
  readonly path: string | undefined
  readonly loader: TaskLoader | null
  /** The tasks of the file; null without a file. */
  readonly loaded: readonly Task[] | null
  readonly demo: boolean
}

async function run(dev: Dev): Promise<void> {
  const { cli, ff, interrupted, logger, loader, loaded, path } = dev
  const key = await localKey(cli, ff)
  const server = await listenSomewhere(dev, key !== null)
  await ff.announce(server.url)
  const isDemo = loaded === null && dev.demo
  const { demoTasks, runDemo } = await import('../demo.ts')
  const tasks = loaded ?? (isDemo ? demoTasks : [])
  const stop = new AbortController()
  const worker = new NewestWorker(ff, logger)
  await worker.run(tasks)
  const reloading = loader === null ? null : await startReloading(cli, path!, loader, worker)
  printStarted(cli, {
    server: server.url,
    keyFile: key?.path ?? null,
    tasks: tasks.map((task) => task.name),
    sample: tasks[0] === undefined ? null : await sampleInput(tasks[0]),
    source: path !== undefined ? { file: path } : isDemo ? 'demo' : 'none',
  })
  const events = printEvents(cli, ff.engine, stop.signal)
  const submitting = isDemo ? runDemo(ff, stop.signal) : Promise.resolve()
  await Promise.race([interrupted, events, submitting.then(() => interrupted)])
  stop.abort()
  await Promise.all([events, submitting, reloading?.close()])
  await worker.stop()
  await server.stop(2000)
  await ff.announce(null)
}

async function startReloading(
  cli: Cli,
  path: string,
  loader: TaskLoader,
  worker: NewestWorker,
): Promise<{ close(): Promise<void> }> {
  const { reloadOnChange } = await import('../reload.ts')
  return reloadOnChange({ cli, path, loader, run: (tasks) => worker.run(tasks) })
}

async function localKey(cli: Cli, ff: FlowFabric): Promise<{ key: string; path: string } | null> {
  const target = parseUrl(cli.url)
  if (target.kind !== 'embedded' || target.directory === null) return null
  const { ensureLocalKey } = await import('../local-key.ts')
  return ensureLocalKey(ff.engine, target.directory)
}

/** The port of the option; otherwise the default port, or any free one if that is in use. */
async function listenSomewhere({ ff, logger, port }: Dev, hasKey: boolean): Promise<RunningServer> {
  const options = { ff, logger, ...(hasKey && { keys: true }) }
  if (port !== undefined) return listen({ ...options, port })
  try {
    return await listen(options)
  } catch (error) {
    if (!isTaken((error as Error).cause)) throw error
    return listen({ ...options, port: 0 })
  }
}
