// One of those who are measured side by side. Whatever it needs for one database (schema, queue) is made by `open`.
import type { Payload } from './payload.ts'

export interface Peer {
  open(url: string): Promise<Submitter>
}

export interface Submitter {
  /** Resolves when the commit is durable. */
  create(payload: Payload): Promise<unknown>
  createMany(payloads: readonly Payload[]): Promise<unknown>
  close(): Promise<void>
}

// Loaded by name, so that a contestant's process holds nothing of the others.
const peers = {
  raw: async () => (await import('./raw.ts')).raw,
  FlowFabric: async () => (await import('./flowfabric.ts')).flowfabric,
  'pg-boss': async () => (await import('./pg-boss.ts')).pgBoss,
  'pg-boss, tuned': async () => (await import('./pg-boss.ts')).pgBossTuned,
} satisfies Record<string, () => Promise<Peer>>

export type PeerName = keyof typeof peers

export function loadPeer(name: PeerName): Promise<Peer> {
  return peers[name]()
}
