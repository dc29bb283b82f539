// The database of each contestant, and the contestants that cannot run on this machine.
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startChild } from './child.ts'
import type { ServerSaid } from './http/server.child.ts'
import type { CreatingName } from './peers/peer.ts'
import { startRedis } from './redis.ts'
import { startServer } from './server.ts'
import type { Database, Server } from './server.ts'

export interface Stores {
  readonly server: Server
  /** Null if none is installed. */
  readonly redisVersion: string | null
  /** Why some are missing, a sentence each. */
  readonly absences: readonly string[]
  isPresent(name: CreatingName): boolean
  createDatabase(name: CreatingName): Promise<Database>
  stop(): Promise<void>
}

export async function openStores(node: string): Promise<Stores> {
  const server = await startServer()
  const redis = await startRedis()
  const hasAbsurd = await isReadable(process.env['BENCH_ABSURD_SQL'])
  const absences: string[] = []
  if (redis === null) absences.push('BullMQ is left out: no redis-server was found')
  if (!hasAbsurd) {
    absences.push('Absurd is left out: its schema is not on npm; BENCH_ABSURD_SQL may name the file sql/absurd.sql')
  }
  return {
    server,
    redisVersion: redis?.version ?? null,
    absences,
    isPresent(name) {
      if (isOnRedis(name)) return redis !== null
      return hasAbsurd || !name.startsWith('Absurd')
    },
    createDatabase(name) {
      if (isOnRedis(name)) return redis!.createDatabase()
      if (name.endsWith('over HTTP')) return createServer(server, node)
      return name === 'FlowFabric, embedded' ? createFolder() : server.createDatabase()
    },
    async stop() {
      await redis?.stop()
      await server.stop()
    },
  }
}

function isOnRedis(name: CreatingName): boolean {
  return name.startsWith('BullMQ')
}

/** A server process of ours on a database of its own. */
async function createServer(server: Server, node: string): Promise<Database> {
  const database = await server.createDatabase()
  const input = { url: database.url }
  const child = await startChild<ServerSaid>(node, new URL('./http/server.child.ts', import.meta.url), input)
  const { url } = await child.tell('go')
  const drop = async (): Promise<void> => {
    await child.end()
    await database.drop()
  }
  return { url, isOnServer: true, drop }
}

async function createFolder(): Promise<Database> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-embedded-'))
  return { url: `file:${folder}`, isOnServer: false, drop: () => rm(folder, { recursive: true }) }
}

async function isReadable(file: string | undefined): Promise<boolean> {
  if (file === undefined) return false
  return access(file).then(
    () => true,
    () => false,
  )
}
