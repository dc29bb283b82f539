// The environment of the CLI: the streams of the process, or those of a test.
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
  /** The command that started it, for suggested commands; defaults to `npx flowfabric`. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Aborts at Ctrl-C; used by commands that run until then. Without it Ctrl-C ends the process. */
  readonly interruption?: () => AbortSignal
  /** Replaces `connect`. */
  readonly connect?: (url: string, options: ConnectOptions) => Promise<FlowFabric>
}
