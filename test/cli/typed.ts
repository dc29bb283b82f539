// The CLI in this process, on the test's database: `const { type } = await typing()`, then `await type('list', '--json')`.
import { onTestFinished } from 'vitest'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { healthOf } from '../../src/connect/hold.ts'
import { run } from '../../src/cli/run.ts'
import type { CliProcess } from '../../src/cli/cli-process.ts'
import { setup, type Fixture } from '../support/setup.ts'

export interface Typed {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface TypeOptions {
  /** As on a screen of this width, instead of into a pipe. */
  readonly columns?: number
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Receives all output so far, of both streams, whenever there is more. */
  readonly onWritten?: (text: string) => void
}

export interface Typing extends Fixture {
  type(...argv: string[]): Promise<Typed>
  typeWith(options: TypeOptions, ...argv: string[]): Promise<Typed>
  /** The output of a command that ended with 0, parsed as JSON. */
  json<T>(...argv: string[]): Promise<T>
}

export async function typing(): Promise<Typing> {
  const fixture = await setup()
  // Commands close their connections; the test's database stays open.
  const connect = async (): Promise<FlowFabric> =>
    ({ engine: fixture.engine, health: healthOf(fixture.sql), close: async () => {} }) as unknown as FlowFabric
  const typeWith = (options: TypeOptions, ...argv: string[]): Promise<Typed> => typed(argv, { connect }, options)
  return {
    ...fixture,
    typeWith,
    type: (...argv) => typeWith({}, ...argv),
    json: async (...argv) => {
      const { code, out, err } = await typeWith({}, ...argv, '--json')
      if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${err}`)
      return JSON.parse(out)
    },
  }
}

/** Without a database, unless the environment names one. */
export async function typed(
  argv: readonly string[],
  around: Partial<CliProcess> = {},
  { columns, stdin = '', env = {}, signal, onWritten }: TypeOptions = {},
): Promise<Typed> {
  let out = ''
  let err = ''
  const screen = columns === undefined ? {} : { isTTY: true, columns }
  const aborted = signal === undefined ? {} : { interruption: () => signal }
  const code = await run(argv, {
    stdout: {
      ...screen,
      write: (text) => {
        out += text
        onWritten?.(out + err)
      },
    },
    stderr: {
      ...screen,
      write: (text) => {
        err += text
        onWritten?.(out + err)
      },
    },
    stdin: (async function* () {
      yield stdin
    })(),
    env: { NO_COLOR: '1', ...env },
    ...aborted,
    ...around,
  })
  return { code, out, err }
}

/** Ends commands that would continue, with the test. */
export function interruptible(): AbortController {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  return controller
}
