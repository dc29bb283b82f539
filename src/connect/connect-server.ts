// FlowFabric on a server, over HTTP. It can do everything except what needs the database itself.
import { openClient } from '../client/open.ts'
import { checkCodec, type Codec } from '../model/codec.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError } from '../model/errors.ts'
import { loggerOf, type LoggerOption } from '../model/logger.ts'
import { isLoopback } from '../model/loopback.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { Telemetry } from '../worker/telemetry.ts'
import type { FlowFabric } from './flowfabric.ts'
import { holdServer } from './hold-server.ts'
import { Outage } from './outage.ts'

export interface ServerOptions {
  /** An API key of the server. */
  readonly token?: string
  /**
   * How long a reply may take, besides the time that the request itself waits. Defaults to 30 s over HTTP and to 8 s on
   * postgres://. There, a connection that is silent for that long is closed, and its calls are sent again or fail with
   * `database_unreachable`.
   */
  readonly timeout?: Duration
  /** How long calls that are safe to repeat are sent again after a lost connection; defaults to 10 s. */
  readonly retryFor?: Duration
  /**
   * Receives a sentence and its facts as fields; `console`, pino and winston fit as they are. Left out: warnings and errors go to
   * the console, one line each. `false`: nothing is logged.
   */
  readonly logger?: LoggerOption
  /** Converts values to bytes: inputs, results, steps, signals, errors. Defaults to JSON. */
  readonly codec?: Codec
  /** Called around submits, runs and steps; `openTelemetry()` of `flowfabric/opentelemetry` makes spans of them. */
  readonly telemetry?: Telemetry
}

export const serverOptionNames = [
  'token',
  'timeout',
  'retryFor',
  'logger',
  'codec',
  'telemetry',
] as const satisfies readonly (keyof ServerOptions)[]

/**
 * Opens FlowFabric on a server. One request checks that the server is reachable and accepts the key.
 *
 * @example
 * const ff = await connect('https://flowfabric.example.com', { token: process.env.FLOWFABRIC_TOKEN })
 */
export async function connectServer(url: string, options: ServerOptions = {}): Promise<FlowFabric> {
  refuseUnknownFields('connect', options, serverOptionNames)
  const { token, timeout = '30s', retryFor = '10s', codec, telemetry } = options
  const logger = loggerOf(options.logger)
  if (codec !== undefined) checkCodec(codec)
  if (!/^https?:/i.test(url)) {
    throw new EngineError('invalid_url', 'the URL of a server begins with http:// or https://')
  }
  if (token !== undefined) warnOfClearText(url)
  const client = await openClient(url, {
    token,
    timeoutMs: parseDuration('timeout', timeout),
    patienceMs: parseDuration('retryFor', retryFor),
    watcher: new Outage(logger),
  })
  return holdServer({ client, codec, logger, telemetry })
}

let warned = false

/** Called before the key is sent. */
function warnOfClearText(url: string): void {
  const server = URL.canParse(url) ? new URL(url) : null
  if (warned || server?.protocol !== 'http:' || isLoopback(server.hostname)) return
  warned = true
  process.emitWarning(
    `the API key is sent to ${server.host} in clear text, and anyone on the way can read it; use https://`,
    { type: 'FlowFabric', code: 'FLOWFABRIC_CLEAR_TEXT' },
  )
}
