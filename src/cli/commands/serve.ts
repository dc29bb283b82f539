import type { Command } from 'commander'
import type { RunningServer, ServeOptions } from '../../server/serve.ts'
import { list, wholeNumber } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { lineLogger, untilInterrupted } from '../logging.ts'

interface ServeCommandOptions {
  readonly port?: number
  readonly host?: string
  readonly cors?: readonly string[]
  readonly keys: boolean
  readonly reconcilers: boolean
  readonly migrate: boolean
}

export function addServe(program: Command, cli: Cli): void {
  const command = program
    .command('serve')
    .description('the engine over HTTP, and the background duties beside it, until Ctrl-C')
    .option('--port <n>', 'where it listens; 0 is any that is free (default: 7070)', wholeNumber)
    .option('--host <address>', 'beyond 127.0.0.1, the default, there must be an API key')
    .option('--cors <origin>', 'whose pages may read answers; may be given several times', list)
    .option('--no-keys', 'ask for no API key; on loopback alone')
    .option('--no-reconcilers', 'somebody else does the background duties')
    .option('--no-migrate', 'refuse to start when the schema is not up to date, instead of bringing it there')
    .addHelpText('after', examples('serve --url postgres://me@host/app --host 0.0.0.0 --port 8080', 'serve'))
  cli.does(command, async ({ port, host, cors, keys, reconcilers, migrate }: ServeCommandOptions) => {
    cli.refuseServer('serve')
    const logger = lineLogger(cli)
    const interrupted = untilInterrupted(cli)
    await cli.connected(
      async ({ ff }) => {
        const server = await listen({
          ff,
          logger,
          reconcilers,
          ...(port !== undefined && { port }),
          ...(host !== undefined && { host }),
          ...(cors !== undefined && { cors }),
          ...(!keys && { keys: false }),
        })
        await ff.announce(server.url)
        tellListening(cli, server)
        await interrupted
        const { cut } = await server.stop()
        await ff.announce(null)
        if (cut > 0) logger.warn(`${cut} connections had to be cut`)
      },
      { migrate: migrate ? true : 'check', logger, ...cli.alone },
    )
  })
}

export async function listen(options: ServeOptions): Promise<RunningServer> {
  const { serve } = await import('../../server/serve.ts')
  try {
    return await serve(options)
  } catch (error) {
    if (!isTaken(error)) throw error
    const { host = '127.0.0.1', port = 7070 } = options
    throw new Error(`port ${port} of ${host} is taken; choose another with --port`, { cause: error })
  }
}

export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

function tellListening(cli: Cli, { url, asksForKeys }: RunningServer): void {
  if (cli.json) return cli.out.line(JSON.stringify({ kind: 'listening', url, asksForKeys }))
  const asks = asksForKeys ? 'it asks for an API key' : 'it asks for no key, and can be reached from this machine alone'
  cli.out.line(`Listening on ${cli.out.colours.cyan(url)}; ${asks}. Ctrl-C ends it.`)
}
