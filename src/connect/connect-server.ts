// FlowFabric on a server, over HTTP: the same in every respect but what needs the database itself.
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
   * How long an answer may take, besides what it is asked to wait. Defaults to 30 s over HTTP, and to 8 s on postgres://, where a
   * connection that is silent for so long is closed and its calls are sent again or fail as `database_unreachable`.
   */
  readonly timeout?: Duration
  /** For how long what is safe to repeat is sent again after a lost connection; defaults to 10 s. */
  readonly retryFor?: Duration
  /**
   * Receives a sentence and its facts as fields; `console`, pino and winston fit as they are. Left out: warnings and errors go to
   * the console, one line each. `false`: nothing is logged.
   */
  readonly logger?: LoggerOption
  /** How values become bytes: inputs, results, steps, signals, errors. Left out: JSON. */
  readonly codec?: Codec
  /** Is told of submits, runs and steps; `openTelemetry()` of `flowfabric/opentelemetry` makes spans of them. */
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
 * Opens FlowFabric on a server; it is asked once whether it is there and takes the key.
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

/** Before the key is sent. */
function warnOfClearText(url: string): void {
  const server = URL.canParse(url) ? new URL(url) : null
  if (warned || server?.protocol !== 'http:' || isLoopback(server.hostname)) return
  warned = true
  process.emitWarning(
    `the API key is sent to ${server.host} in clear text, and anyone on the way can read it; use https://`,
    { type: 'FlowFabric', code: 'FLOWFABRIC_CLEAR_TEXT' },
  )
}
