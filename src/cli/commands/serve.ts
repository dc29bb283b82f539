import type { Command } from 'commander'
import type { RunningServer, ServeOptions } from '../../server/serve.ts'
import type { ConnectOptions } from '../../connect/connect.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import { isLoopback } from '../../model/loopback.ts'
import { unwrappedWarning } from '../../model/wrapped-secret.ts'
import { commaList, list, port as portNumber, wholeNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { fromEnvironment } from '../environment.ts'
import { examples } from '../examples.ts'
import { lineLogger, untilInterrupted, type LineLogger } from '../logging.ts'

interface ServeCommandOptions {
  readonly port?: number
  readonly host?: string
  readonly cors?: readonly string[]
  readonly keys?: boolean
  readonly hosts?: readonly string[]
  readonly publicUrl?: string
  readonly trustProxy?: readonly string[]
  readonly readsPerKey?: number
  readonly refusePlainInput?: readonly string[]
  readonly duties: boolean
  readonly migrate: boolean
  readonly listenUrl?: string
  readonly poolSize?: number
  readonly keepEndings?: Duration
  readonly keepLog?: Duration
  readonly drain: Duration
}

export function addServe(program: Command, cli: Cli): void {
  const command = program
    .command('serve')
    .description('run the HTTP server and the background duties, until Ctrl-C')
    .option('--port <n>', 'port to listen on; 0 picks a free one (default: 7070)', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); any but loopback needs an API key')
    .option('--cors <origin>', 'origin whose pages may call the API; repeatable', list)
    .option(
      '--keys',
      'require an API key for every request, even while none exists (default on loopback: once one exists)',
    )
    .option('--no-keys', 'require no API key, except for requests through a proxy; loopback only')
    .option('--hosts <names>', 'additional host names to accept, separated by commas', commaList)
    .option(
      '--public-url <url>',
      'URL at which people reach it through your proxy: base of links, and allowed as an origin',
    )
    .option(
      '--trust-proxy <networks>',
      'proxies whose X-Forwarded-For is trusted, such as 127.0.0.1,10.0.0.0/8',
      commaList,
    )
    .option(
      '--reads-per-key <n>',
      'concurrent reads per API key; others wait (default: a quarter of the pool, at least 2)',
      wholeNumber,
    )
    .option(
      '--refuse-plain-input <namespaces>',
      'namespaces that take only bytes of your codec and refuse plain JSON; * is all of them',
      commaList,
    )
    .option('--no-duties', 'do not run background duties in this process')
    .option('--no-migrate', 'do not update the schema; refuse to start if it is outdated')
    .option('--listen-url <url>', 'direct Postgres URL for notifications, if --url is a pooler')
    .option('--pool-size <n>', 'Postgres connections for work, not counting the one that listens', wholeNumber)
    .option('--keep-endings <duration>', 'keep ended executions this long (default: 30d)')
    .option('--keep-log <duration>', 'keep events this long (default: 30d)')
    .option('--drain <duration>', 'when stopping, keep serving this long while /readyz reports the shutdown', '0s')
    .addHelpText('after', examples('serve --url postgres://me@host/app --host 0.0.0.0 --port 8080', 'serve'))
  cli.does(command, async (options: ServeCommandOptions) => {
    const { port, host, cors, keys, hosts, trustProxy, migrate } = options
    const publicUrl = options.publicUrl ?? fromEnvironment(cli.env, 'FLOWFABRIC_PUBLIC_URL')
    cli.refuseServer('serve')
    const duties = supervised(options)
    const drainMs = parseDuration('--drain', options.drain)
    const logger = lineLogger(cli)
    const interrupted = untilInterrupted(cli)
    await cli.connected(
      async ({ ff }) => {
        const server = await listen({
          ff,
          logger,
          duties,
          ...(port !== undefined && { port }),
          ...(host !== undefined && { host }),
          ...(cors !== undefined && { cors }),
          ...(keys !== undefined && { keys }),
          ...(hosts !== undefined && { hosts }),
          ...(publicUrl !== undefined && { publicUrl }),
          ...(trustProxy !== undefined && { trustProxy }),
          ...(options.refusePlainInput !== undefined && { refusePlainInput: options.refusePlainInput }),
          readsAtOnce: { perKey: options.readsPerKey ?? Math.max(2, Math.floor((options.poolSize ?? 0) / 4)) },
        })
        warnOfUnwrappedKeys(cli, host, logger)
        await ff.announce(server.url)
        printListening(cli, server, keys)
        await interrupted
        if (drainMs > 0) await server.drain(drainMs)
        const { cut } = await server.stop()
        await ff.announce(null)
        if (cut > 0) logger.warn(`closed ${cut} connections that had not finished in time`)
      },
      { migrate: migrate ? true : 'check', logger, ...cli.alone, ...connections(options) },
    )
  })
}

function connections({ listenUrl, poolSize }: ServeCommandOptions): ConnectOptions {
  return { ...(listenUrl !== undefined && { listenUrl }), ...(poolSize !== undefined && { poolSize }) }
}

function supervised({ duties, keepEndings, keepLog }: ServeCommandOptions): NonNullable<ServeOptions['duties']> {
  const retention = {
    ...(keepEndings !== undefined && { endings: parseDuration('--keep-endings', keepEndings) }),
    ...(keepLog !== undefined && { log: parseDuration('--keep-log', keepLog) }),
  }
  if (duties) return { retention }
  if (Object.keys(retention).length === 0) return false
  const sentence =
    '--keep-endings and --keep-log configure the background duties, which --no-duties switches off; leave out --no-duties, or those two'
  throw new EngineError('invalid_input', sentence, { field: 'duties' })
}

/**
 * A public server signs links and tokens for others; with an unwrapped key, a reader of the database can sign them too.
 */
function warnOfUnwrappedKeys(cli: Cli, host: string | undefined, logger: LineLogger): void {
  if (host === undefined || isLoopback(host) || fromEnvironment(cli.env, 'FLOWFABRIC_WRAPPING_SECRET') !== undefined)
    return
  logger.warn(unwrappedWarning)
}

export async function listen(options: ServeOptions): Promise<RunningServer> {
  const { serve } = await import('../../server/serve.ts')
  try {
    return await serve(options)
  } catch (error) {
    if (EngineError.is(error) && error.code === 'forbidden') throw withCommand(error)
    const { host = '127.0.0.1', port = 7070 } = options
    if (isTaken(error))
      throw new Error(`port ${port} of ${host} is in use; choose another with --port`, { cause: error })
    if (!isOfSystem(error)) throw error
    const sentence = `cannot listen on port ${port} of ${host} (${error.code}); choose others with --port and --host`
    throw new Error(sentence, { cause: error })
  }
}

/** The server's errors name API calls; here the hint is the command that creates a key. */
function withCommand({ code, message, details, cause }: EngineError): EngineError {
  const sentence = message.replace(
    /make one with apiKeys\.create/,
    'make one with `flowfabric api-key create ops --scope admin`',
  )
  return new EngineError(code, sentence, details, { cause })
}

export function isTaken(error: unknown): boolean {
  return isOfSystem(error) && error.code === 'EADDRINUSE'
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

function printListening(cli: Cli, { url, asksForKeys }: RunningServer, keys: boolean | undefined): void {
  if (cli.json) return cli.out.line(JSON.stringify({ kind: 'listening', url, asksForKeys }))
  const open = `requests from this machine need no API key${keys === false ? '' : ' until one exists'}`
  const asks = asksForKeys ? 'requests need an API key' : open
  cli.out.line(`Listening on ${cli.out.colours.cyan(url)}; ${asks}. Press Ctrl-C to stop.`)
}
