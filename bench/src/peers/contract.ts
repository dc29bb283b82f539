// The interface of every contestant. `open` creates everything that it needs in a database (schema, queue).
import type { Payload } from './payload.ts'

/** A contestant that accepts work. */
export interface Creating {
  open(url: string): Promise<Submitter>
}

/** A contestant that also performs it. */
export interface Peer extends Creating {
  /** Begins at once; the handler calls `handle`. */
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
  /** Whether the end of all handled work is committed. Called only after the last was handled. */
  isDone(): Promise<boolean>
  stop(): Promise<void>
}
