// What the CLI is run in: the process's own streams, or a test's.
import type { ConnectOptions } from '../connect/connect.ts'
import type { FlowFabric } from '../connect/flowfabric.ts'

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface CliProcess {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: AsyncIterable<string | Uint8Array>
  /** How it was called, for what people are told to type; left out, `npx flowfabric`. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Aborted when the user has had enough; asked for by what would go on for ever. Without it Ctrl-C ends the process. */
  readonly interruption?: () => AbortSignal
  /** Instead of opening what the URL names. */
  readonly connect?: (url: string, options: ConnectOptions) => Promise<FlowFabric>
}
