// A server that listens: the app, the supervisor in the same process, and a stop that loses nothing. Beyond loopback it
// listens only when a key is required.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import { within } from '../engine/kernel/closing.ts'
import type { Engine } from '../engine/contract.ts'
import type { DutyTurn } from '../engine/duties/duty-turn.ts'
import type { SuperviseOptions, Supervisor } from '../engine/duties/supervisor.ts'
import { EngineError } from '../model/errors.ts'
import { loggerOf, type Logger } from '../model/logger.ts'
import { isLoopback } from '../model/loopback.ts'
import { unwrappedWarning } from '../model/wrapped-secret.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { appWith, type AppOptions } from './app.ts'
import { answerBrokenRequests, slowRequests } from './broken-request.ts'
import { Metrics } from './metrics.ts'
import type { CheckedHealth } from './doctor.ts'
import { KeyRequirement } from './key-requirement.ts'
import { checkPublicUrl, loopbackHosts } from './origin.ts'

/** The part of `FlowFabric` that a server needs. */
export interface ServedFlowFabric {
  readonly engine: Engine
  supervise(options?: SuperviseOptions): Supervisor
  /** Left out: the server has no `/doctor`. */
  readonly health?: CheckedHealth
  close(): Promise<void>
}

export interface ServeOptions extends Omit<AppOptions, 'authenticate'> {
  /** The FlowFabric to serve. With `url` instead, the server opens and closes it. */
  readonly ff?: ServedFlowFabric
  readonly url?: string
  /** Defaults to 127.0.0.1. */
  readonly host?: string
  /** Defaults to 7070; 0 picks a free port. */
  readonly port?: number
  /**
   * Whether requests need an API key. Left out: yes, but on loopback only once a key exists. False: no, on loopback
   * only; a request that a proxy forwarded always needs one.
   */
  readonly keys?: boolean
  /** Runs the background duties; false: another process does. */
  readonly duties?: boolean | SuperviseOptions
}

export interface RunningServer extends AsyncDisposable {
  /** The URL at which it listens: `http://127.0.0.1:7070`. */
  readonly url: string
  readonly port: number
  /**
   * Whether requests need an API key, as of the last check: on loopback they do from the moment the first key exists.
   */
  readonly asksForKeys: boolean
  /**
   * Reports at `/readyz` that it is about to stop, and serves for this time, so that load balancers have switched to
   * other servers before `stop` refuses requests.
   */
  drain(forMs: number): Promise<void>
  /**
   * Accepts no more requests, ends streams and waits with a reason, and finishes accepted requests, for at most ten
   * seconds. Returns how many connections had to be cut.
   */
  stop(graceMs?: number): Promise<{ readonly cut: number }>
}

/**
 * Listens.
 *
 * @example
 * const server = await serve({ url: 'memory:', port: 0 })
 * console.log(server.url)
 * await server.stop()
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  refuseUnknownFields('serve', options, optionNames)
  const { ff: given, url, host = '127.0.0.1', port = 7070, keys, duties = true, ...rest } = options
  if (given !== undefined && url !== undefined) throw eitherOf('serve was given both ff and url')
  const logger = loggerOf(rest.logger)
  const ff = given ?? (await open(url, logger))
  let server: Server | undefined
  try {
    // An instance that was opened here has no wrapping secret.
    if (given === undefined && !isLoopback(host)) logger.warn(unwrappedWarning)
    const requirement = await keyRequirement(ff.engine, host, keys)
    const opening = { isOpen: async () => keys === false || !(await requirement.check()), admitsProxied: false }
    const metrics = new Metrics(ff.engine)
    const app = appWith(ff.engine, { ...rest, logger, ...namesOf(host, rest) }, metrics, opening, ff.health ?? null)
    const listening = createAdaptorServer({
      fetch: (request, env) => app.fetch(request, env),
      serverOptions: slowRequests,
    }) as Server
    server = listening
    answerBrokenRequests(listening)
    listening.listen(port, host)
    await once(listening, 'listening')
    const supervisor = duties === false ? null : supervise(ff, metrics, duties === true ? {} : duties)
    const { port: found } = listening.address() as AddressInfo
    let stopped: Promise<{ cut: number }> | null = null
    const stop = (graceMs = 10_000): Promise<{ cut: number }> => (stopped ??= end(graceMs))
    const drain = async (forMs: number): Promise<void> => {
      app.drain()
      await sleep(forMs)
    }
    const end = async (graceMs: number): Promise<{ cut: number }> => {
      const closed = once(listening, 'close')
      listening.close()
      app.stop()
      // A connection is idle after its last response, and Node emits no event for that.
      const idle = setInterval(() => listening.closeIdleConnections(), 50)
      await Promise.all([within(graceMs, closed), supervisor?.stop()])
      clearInterval(idle)
      const cut = await connections(listening)
      listening.closeAllConnections()
      if (given === undefined) await ff.close()
      return { cut }
    }
    const name = host.includes(':') ? `[${host}]` : host
    return {
      url: `http://${name}:${found}`,
      port: found,
      get asksForKeys() {
        return keys !== false && requirement.isRequired
      },
      drain,
      stop,
      [Symbol.asyncDispose]: async () => void (await stop()),
    }
  } catch (error) {
    server?.close()
    if (given === undefined) await ff.close()
    throw error
  }
}

function supervise(ff: ServedFlowFabric, metrics: Metrics, options: SuperviseOptions): Supervisor {
  const onTurn = (turn: DutyTurn): void => {
    metrics.turn(turn)
    options.onTurn?.(turn)
  }
  return ff.supervise({ ...options, onTurn })
}

const optionNames = [
  'ff',
  'url',
  'host',
  'port',
  'keys',
  'duties',
  'rateLimit',
  'basePath',
  'cors',
  'hosts',
  'publicUrl',
  'trustProxy',
  'readsAtOnce',
  'refusePlainInput',
  'logger',
  'metrics',
  'heartbeatMs',
] as const satisfies readonly (keyof ServeOptions)[]

async function open(url: string | undefined, logger: Logger): Promise<ServedFlowFabric> {
  if (url === undefined) throw eitherOf('serve needs ff or url')
  // Imported here only, so that a program that mounts the app loads nothing that opens databases.
  const { connect } = await import('../connect/connect.ts')
  return connect(url, { logger })
}

function eitherOf(found: string): EngineError {
  return new EngineError('invalid_input', `${found}; give one of them`, { field: 'url' })
}

async function keyRequirement(engine: Engine, host: string, wanted: boolean | undefined): Promise<KeyRequirement> {
  const requirement = new KeyRequirement(engine, wanted === true && isLoopback(host))
  if (isLoopback(host)) {
    if (wanted === undefined) await requirement.check()
    return requirement
  }
  if ((await requirement.check()) && wanted !== false) return requirement
  const sentence =
    wanted === false
      ? `a server on ${host} can be reached by others, so it must ask for keys; leave keys out, or listen on 127.0.0.1`
      : `a server on ${host} can be reached by others, and there is no API key yet; make one with apiKeys.create first`
  throw new EngineError('forbidden', sentence, { host })
}

/** On loopback it accepts a few host names; elsewhere any, unless some are configured. */
function namesOf(
  host: string,
  { hosts, publicUrl }: Pick<AppOptions, 'hosts' | 'publicUrl'>,
): Pick<AppOptions, 'hosts'> {
  if (!isLoopback(host) && hosts === undefined) return {}
  const known = publicUrl === undefined ? [] : [checkPublicUrl(publicUrl).hostname]
  return { hosts: [...loopbackHosts, ...(hosts ?? []).map((name) => name.toLowerCase()), ...known] }
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))
}
