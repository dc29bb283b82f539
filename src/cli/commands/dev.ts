import type { Command } from 'commander'
import type { FlowFabric } from '../../connect/flowfabric.ts'
import type { RunningServer } from '../../server/serve.ts'
import { EngineError } from '../../model/errors.ts'
import type { Task } from '../../worker/task.ts'
import type { Worker } from '../../worker/worker.ts'
import { wholeNumber } from '../arguments.ts'
import { defaultUrl, type Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { tellEvents } from '../tell-events.ts'
import type { Loaded } from '../load-tasks.ts'
import { lineLogger, untilInterrupted, type LineLogger } from '../logging.ts'
import { harmless } from '../text.ts'
import { isTaken, listen } from './serve.ts'

interface DevOptions {
  readonly port?: number
  readonly demo: boolean
}

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .description('database, server, background duties and your tasks in one process; without tasks, a demo')
    .argument('[tasks]', 'a file that exports tasks; it is loaded again whenever it changes')
    .option('--port <n>', 'where the server listens; 0 is any that is free (default: 7070, or else any)', wholeNumber)
    .option('--no-demo', 'run no tasks, when no file is given')
    .addHelpText('after', examples('dev', 'dev tasks.ts', 'dev tasks.ts --url postgres://localhost/app'))
  cli.does(command, async ({ port, demo }: DevOptions, path?: string) => {
    cli.refuseServer('dev')
    const logger = lineLogger(cli)
    const interrupted = untilInterrupted(cli)
    // A file that cannot be loaded is told before a database is made.
    const load = path === undefined ? null : await (await import('../load-tasks.ts')).taskLoader(path)
    const loaded = (await load?.()) ?? null
    await cli.connected(({ ff }) => run({ cli, ff, logger, interrupted, port, path, load, loaded, demo }), {
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
  readonly load: (() => Promise<Loaded>) | null
  readonly loaded: Loaded | null
  readonly demo: boolean
}

async function run(dev: Dev): Promise<void> {
  const { cli, ff, interrupted, loaded, path } = dev
  const key = await localKey(cli, ff)
  const server = await listenSomewhere(dev, key !== null)
  await ff.announce(server.url)
  const isDemo = loaded === null && dev.demo
  const { demoTasks, runDemo } = await import('../demo.ts')
  const tasks = loaded?.tasks ?? (isDemo ? demoTasks : [])
  const stop = new AbortController()
  const workers = new Workers(dev)
  await workers.run(tasks)
  const reloading = path === undefined || loaded === null ? null : await reload(dev, workers, loaded)
  tellStarted(dev, { server, tasks, key })
  const events = tellEvents(cli, ff.engine, stop.signal)
  const submitting = isDemo ? runDemo(ff, stop.signal) : Promise.resolve()
  await Promise.race([interrupted, events, submitting.then(() => interrupted)])
  stop.abort()
  reloading?.close()
  await Promise.all([events, submitting])
  await workers.stop()
  await server.stop(2000)
  await ff.announce(null)
}

async function localKey(cli: Cli, ff: FlowFabric): Promise<{ key: string; path: string } | null> {
  const { parseUrl } = await import('../../connect/url.ts')
  const target = parseUrl(cli.url)
  if (target.kind !== 'embedded' || target.directory === null) return null
  const { ensureLocalKey } = await import('../local-key.ts')
  return ensureLocalKey(ff.engine, target.directory)
}

/** Where it is told to; else where it always is, or anywhere when that is taken. */
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

/** The worker of the newest tasks; those of older ones finish what they have. */
class Workers {
  readonly #dev: Dev
  #current: Worker | null = null
  #leaving: Promise<void>[] = []

  constructor(dev: Dev) {
    this.#dev = dev
  }

  async run(tasks: readonly Task[]): Promise<void> {
    if (tasks.length === 0) return
    const { ff, logger } = this.#dev
    const next = ff.worker({ tasks, name: 'dev', handleSignals: false, reconcilers: false, logger })
    const before = this.#current
    await next.start()
    this.#current = next
    if (before !== null) this.#leaving.push(before.stop({ grace: '5s' }))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#leaving, this.#current?.stop({ grace: '2s' })])
  }
}

async function reload({ cli, load }: Dev, workers: Workers, first: Loaded): Promise<{ close(): void }> {
  const { FileWatch } = await import('../watch-files.ts')
  let turn = Promise.resolve()
  const again = async (): Promise<void> => {
    try {
      const loaded = await load!()
      await workers.run(loaded.tasks)
      watch.watch(loaded.files)
      say(
        cli,
        { kind: 'loaded', tasks: loaded.tasks.map((task) => task.name) },
        `loaded again: ${namesOf(loaded.tasks)}`,
      )
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const refused = EngineError.is(error) ? message : `it cannot be loaded: ${message}`
      say(cli, { kind: 'not_loaded', message }, `${refused}; what ran before goes on`)
    }
  }
  const watch = new FileWatch(() => {
    turn = turn.then(again)
  })
  watch.watch(first.files)
  return watch
}

function namesOf(tasks: readonly Task[]): string {
  return tasks.map((task) => task.name).join(', ')
}

function say(cli: Cli, event: object, sentence: string): void {
  if (cli.json) cli.out.line(JSON.stringify(event))
  else cli.out.line(cli.out.colours.bold(harmless(sentence)))
}

interface Started {
  readonly server: RunningServer
  readonly tasks: readonly Task[]
  readonly key: { readonly key: string; readonly path: string } | null
}

function tellStarted({ cli, path, loaded }: Dev, { server, tasks, key }: Started): void {
  const { out } = cli
  const names = tasks.map((task) => task.name)
  if (cli.json) {
    const keyFile = key?.path ?? null
    return out.line(JSON.stringify({ kind: 'started', url: server.url, database: cli.url, tasks: names, keyFile }))
  }
  const { colours } = out
  out.facts([
    ['server', server.url],
    ['key', key === null ? null : `in ${key.path}, for whoever may read it`],
    ['database', cli.url],
    [
      'tasks',
      loaded === null
        ? names.length === 0
          ? 'none'
          : `${namesOf(tasks)} (the demo)`
        : `${namesOf(tasks)} (${path}, loaded again when it changes)`,
    ],
  ])
  const [first = 'hello'] = names
  // In this folder the database is found by itself, and who has it open as well.
  const where = cli.url === defaultUrl ? '' : ` --url ${cli.url.startsWith('file:') ? cli.url : server.url}`
  out.line(`\n${colours.bold('Try, in another terminal:')}`)
  const input = loaded === null ? ` '{"number":1,"amount":42}'` : ''
  for (const words of [
    `submit ${first}${input} --watch`,
    'list',
    'flow list',
    'list --state suspended',
    "approve '<id>'",
  ]) {
    out.line(`  npx flowfabric ${harmless(words)}${where}`)
  }
  out.line(`\n${colours.dim('What happens, until Ctrl-C:')}`)
}
