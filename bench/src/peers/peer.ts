// The contestants.
import type { Creating, Peer } from './contract.ts'

// Loaded by name, so that the process of a contestant loads nothing of the others.
const peers = {
  'raw queue': async () => (await import('./raw-queue.ts')).rawQueue,
  FlowFabric: async () => (await import('./flowfabric.ts')).flowfabric,
  // On a folder instead of a server.
  'FlowFabric, embedded': async () => (await import('./flowfabric.ts')).flowfabric,
  // On a server of its own, which alone opens the database.
  'FlowFabric, over HTTP': async () => (await import('./flowfabric.ts')).flowfabric,
  'FlowFabric, worker over HTTP': async () => (await import('./flowfabric-worker.ts')).flowfabricWorker,
  'Graphile Worker': () => installed('graphile-worker', 'graphileWorker'),
  'Graphile Worker, tuned': () => installed('graphile-worker', 'graphileWorkerTuned'),
  'pg-boss': () => installed('pg-boss', 'pgBoss'),
  'pg-boss, tuned': () => installed('pg-boss', 'pgBossTuned'),
  'pg-boss, notifying': () => installed('pg-boss', 'pgBossNotifying'),
  DBOS: () => installed('dbos', 'dbos'),
  'DBOS, tuned': () => installed('dbos', 'dbosTuned'),
  Absurd: () => installed('absurd', 'absurd'),
  'Absurd, tuned': () => installed('absurd', 'absurdTuned'),
  'FlowFabric, worker': async () => (await import('./flowfabric-worker.ts')).flowfabricWorker,
  'FlowFabric, three steps': async () => (await import('./flowfabric-worker.ts')).flowfabricSteps,
  'DBOS, three steps': () => installed('dbos', 'dbosSteps'),
  'Absurd, three steps': () => installed('absurd', 'absurdSteps'),
  'OpenWorkflow, three steps': () => installed('openworkflow', 'openWorkflowSteps'),
  BullMQ: () => installed('bullmq', 'bullmq'),
  'BullMQ, tuned': () => installed('bullmq', 'bullmqTuned'),
} satisfies Record<string, () => Promise<Peer>>

const creating = {
  ...peers,
  'raw insert': async () => (await import('./raw-insert.ts')).rawInsert,
} satisfies Record<string, () => Promise<Creating>>

// Peers of other vendors are a package of their own (bench/peers), with its own compiled files: the root install does
// not need them, and some need a newer Node. This file is compiled too, to bench/dist/bench/src/peers/peer.js.
async function installed(file: string, name: string): Promise<Peer> {
  const module = new URL(`../../../../peers/dist/peers/${file}.js`, import.meta.url)
  const exported = (await import(module.href)) as Readonly<Record<string, Peer>>
  const peer = exported[name]
  if (peer === undefined) throw new Error(`bench/peers/${file}.ts does not export '${name}'`)
  return peer
}

export type PeerName = keyof typeof peers
export type CreatingName = keyof typeof creating

export function loadPeer(name: PeerName): Promise<Peer> {
  return peers[name]()
}

export function loadCreating(name: CreatingName): Promise<Creating> {
  return creating[name]()
}
