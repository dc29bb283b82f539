// What every contestant can do. Whatever one needs for a database (schema, queue) is made by `open`.
import type { Payload } from './payload.ts'

/** One who takes work in. */
export interface Creating {
  open(url: string): Promise<Submitter>
}

/** One who also does it. */
export interface Peer extends Creating {
  /** Begins at once; `handle` is what the handler does. */
  startWorker(url: string, handle: Handle): Promise<Worker>
}

export interface Submitter {
  /** Resolves when the commit is durable. */
  create(payload: Payload): Promise<unknown>
  createMany(payloads: readonly Payload[]): Promise<unknown>
  close(): Promise<void>
}

export type Handle = (payload: Payload) => void

export interface Worker {
  /** Whether the end of everything that was handled is committed. Asked only after the last was handled. */
  isDone(): Promise<boolean>
  stop(): Promise<void>
}
