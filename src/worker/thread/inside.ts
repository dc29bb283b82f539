// Whether this is a thread that runs tasks for a worker: it imports the modules of tasks, and starts no worker of its own.
import { workerData } from 'node:worker_threads'

export interface ThreadStart {
  readonly flowfabric: 'thread'
  /** The module that the thread runs. */
  readonly entry: string
  /** The module to register before, if that module is TypeScript. */
  readonly loader: string | null
}

const start = workerData as Partial<ThreadStart> | null | undefined

export const isInsideThread: boolean =
  typeof start === 'object' && start !== null && 'flowfabric' in start && start.flowfabric === 'thread'
