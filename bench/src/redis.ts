// The Redis that BullMQ is measured on: as it is found on this machine, with its own defaults, in a folder of its own.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Redis as RedisClient } from 'ioredis'
import type { Database } from './server.ts'

export interface Redis {
  readonly version: string
  createDatabase(): Promise<Database>
  stop(): Promise<void>
}

/** Null where there is none. */
export async function startRedis(): Promise<Redis | null> {
  const version = await findVersion()
  if (version === null) return null
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-redis-'))
  const port = await findFreePort()
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder], {
    stdio: 'ignore',
  })
  const admin = new RedisClient(`redis://127.0.0.1:${port}`, { maxRetriesPerRequest: null })
  // It tries again until the server is there.
  admin.on('error', () => {})
  await admin.ping()
  return {
    version,
    // One contestant is on it at a time.
    async createDatabase() {
      await admin.flushall()
      const drop = async () => void (await admin.flushall())
      return { url: `redis://127.0.0.1:${port}`, isOnServer: false, drop }
    },
    async stop() {
      admin.disconnect()
      server.kill()
      await once(server, 'exit')
      await rm(folder, { recursive: true })
    },
  }
}

async function findVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('redis-server', ['--version'])
    return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown'
  } catch {
    return null
  }
}

async function findFreePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  await once(listener.close(), 'close')
  return port
}
