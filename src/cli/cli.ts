// The object that every command receives: the printer, the global options, and the connection to the engine.
import { access } from 'node:fs/promises'
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { ConnectOptions } from '../connect/connect.ts'
import type { FlowFabric } from '../connect/flowfabric.ts'
import { parseUrl, shownUrl } from '../connect/url.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../model/errors.ts'
import { fromEnvironment, postgresOptions, signingOptions, type Environment } from './environment.ts'
import { Printer } from './print.ts'
import { ProgressBar } from './progress.ts'
import type { CliProcess } from './cli-process.ts'

/** Options of all commands. */
export interface Globals {
  readonly url?: string
  readonly schema?: string
  readonly namespace?: string
  readonly actor?: string
  readonly json?: boolean
  readonly debug?: boolean
}

export interface CliConnection {
  readonly ff: FlowFabric
  /** Bound to the namespace of the options, and to the user as the actor. */
  readonly engine: Engine
}

/** Undefined: success. A number: the exit code. */
export type CommandOutcome = Promise<number | void>

/** Each command declares its own options and arguments; commander passes them as declared. */
type CommandWork = (options: never, ...given: never[]) => CommandOutcome

export const defaultUrl = 'file:./.flowfabric'

export class Cli {
  readonly host: CliProcess
  readonly env: Environment
  readonly out: Printer
  readonly err: Printer
  globals: Globals = {}
  exitCode = 0

  constructor(host: CliProcess) {
    this.host = host
    this.env = host.env ?? {}
    this.out = new Printer(host.stdout, this.env)
    this.err = new Printer(host.stderr, this.env)
  }

  get json(): boolean {
    return this.globals.json === true
  }

  get url(): string {
    return this.globals.url ?? fromEnvironment(this.env, 'FLOWFABRIC_URL') ?? defaultUrl
  }

  /** The actor in the log. */
  get actor(): string {
    return this.globals.actor ?? `cli:${userName()}`
  }

  /** `work` receives the options first, then the arguments. */
  does(command: Command, work: CommandWork): Command {
    return command.action(async (...given: unknown[]) => {
      this.globals = command.optsWithGlobals<Globals>()
      const [options] = given.slice(-2)
      const result = await work(options as never, ...(given.slice(0, -2) as never[]))
      this.exitCode = result ?? 0
    })
  }

  /** Opens the URL, and closes it in every case. By default it changes no schema. */
  async connected<T>(work: (connected: CliConnection) => Promise<T>, options: ConnectOptions = {}): Promise<T> {
    const ff = await this.open(options)
    try {
      return await work({ ff, engine: this.bind(ff) })
    } finally {
      await ff.close()
    }
  }

  bind(ff: FlowFabric): Engine {
    const { namespace, actor } = this.globals
    // A server derives the actor from the key; only an administrator may act as another.
    const who = this.#isServer && actor === undefined ? {} : { actor: this.actor }
    return ff.engine.as({ ...who, ...(namespace !== undefined && { namespace }) })
  }

  async open(options: ConnectOptions = {}): Promise<FlowFabric> {
    const { url } = this
    const { schema } = this.globals
    const connect = this.host.connect ?? (await import('../connect/connect.ts')).connect
    if (options.migrate !== true && this.host.connect === undefined) await this.#refuseMissingDirectory(url)
    const given = { ...(schema !== undefined && { schema }), ...this.#fromEnvironment(options), ...options }
    if (this.#isServer) {
      // A server checks its own schema, and needs the actor.
      const { migrate: _migrate, ...rest } = given
      return connect(url, { ...this.#token(), ...rest })
    }
    const migrate = url === 'memory:' ? true : ('check' as const)
    return connect(url, { migrate, ...given })
  }

  /** For commands that need an embedded directory for themselves, and cannot use the process that serves it. */
  get alone(): ConnectOptions {
    return /^file:/i.test(this.url) ? { share: false } : {}
  }

  /** For commands that do not work over HTTP. */
  refuseServer(command: string): void {
    if (!this.#isServer) return
    const sentence = `${command} needs a direct database connection, but ${shownUrl(this.url)} is a server; use --url postgres://... or file:./directory`
    throw new EngineError('invalid_input', sentence, { field: 'url' })
  }

  get #isServer(): boolean {
    return /^https?:/i.test(this.url)
  }

  progress(what: string, total: number): ProgressBar {
    return new ProgressBar(this.err, what, total, this.json)
  }

  // A directory that another process may serve is not opened with a secret: that process has it.
  #fromEnvironment({ share }: ConnectOptions): ConnectOptions {
    if (/^postgres(ql)?:/i.test(this.url)) return postgresOptions(this.env)
    return share === false ? signingOptions(this.env) : {}
  }

  #token(): { readonly token?: string } {
    const token = fromEnvironment(this.env, 'FLOWFABRIC_TOKEN')
    return token === undefined ? {} : { token }
  }

  // Opening it would create an empty database.
  async #refuseMissingDirectory(url: string): Promise<void> {
    const target = parseUrl(url)
    if (target.kind !== 'embedded' || target.directory === null) return
    const isThere = await access(target.directory).then(
      () => true,
      () => false,
    )
    if (isThere) return
    const sentence = `there is no database in ${target.directory}; choose another with --url or FLOWFABRIC_URL, or create one with \`flowfabric dev\` or \`flowfabric migrate\``
    throw new EngineError('database_not_found', sentence, { directory: target.directory })
  }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
