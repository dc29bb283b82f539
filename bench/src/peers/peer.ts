// Those who are measured side by side. Whatever one needs for a database (schema, queue) is made by `open`.
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

// Loaded by name, so that a contestant's process holds nothing of the others.
const peers = {
  'raw queue': async () => (await import('./raw-queue.ts')).rawQueue,
  FlowFabric: async () => (await import('./flowfabric.ts')).flowfabric,
  // On a folder instead of a server.
  'FlowFabric, embedded': async () => (await import('./flowfabric.ts')).flowfabric,
  // On a server of its own, which alone has the database.
  'FlowFabric, over HTTP': async () => (await import('./flowfabric.ts')).flowfabric,
  'FlowFabric, worker over HTTP': async () => (await import('./flowfabric-worker.ts')).flowfabricWorker,
  'Graphile Worker': async () => (await import('./graphile-worker.ts')).graphileWorker,
  'Graphile Worker, tuned': async () => (await import('./graphile-worker.ts')).graphileWorkerTuned,
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'pg-boss, tuned': async () => (await import('./pg-boss.ts')).pgBossTuned,
  'pg-boss, notifying': async () => (await import('./pg-boss.ts')).pgBossNotifying,
  DBOS: async () => (await import('./dbos.ts')).dbos,
  'DBOS, tuned': async () => (await import('./dbos.ts')).dbosTuned,
  Absurd: async () => (await import('./absurd.ts')).absurd,
  'Absurd, tuned': async () => (await import('./absurd.ts')).absurdTuned,
  'FlowFabric, worker': async () => (await import('./flowfabric-worker.ts')).flowfabricWorker,
  'FlowFabric, three steps': async () => (await import('./flowfabric-worker.ts')).flowfabricSteps,
  'DBOS, three steps': async () => (await import('./dbos.ts')).dbosSteps,
  'Absurd, three steps': async () => (await import('./absurd.ts')).absurdSteps,
  'OpenWorkflow, three steps': async () => (await import('./openworkflow.ts')).openWorkflowSteps,
  BullMQ: async () => (await import('./bullmq.ts')).bullmq,
  'BullMQ, tuned': async () => (await import('./bullmq.ts')).bullmqTuned,
} satisfies Record<string, () => Promise<Peer>>

const creating = {
  ...peers,
  'raw insert': async () => (await import('./raw-insert.ts')).rawInsert,
} satisfies Record<string, () => Promise<Creating>>

export type PeerName = keyof typeof peers
export type CreatingName = keyof typeof creating

export function loadPeer(name: PeerName): Promise<Peer> {
  return peers[name]()
}

export function loadCreating(name: CreatingName): Promise<Creating> {
  return creating[name]()
}
