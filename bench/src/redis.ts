// The Redis that BullMQ is measured on: the one of this machine, with its own defaults, in a folder of its own.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Database } from './server.ts'

export interface Redis {
  readonly version: string
  createDatabase(): Promise<Database>
  stop(): Promise<void>
}

/** Null if none is installed. */
export async function startRedis(): Promise<Redis | null> {
  const version = await findVersion()
  if (version === null) return null
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-redis-'))
  const port = await findFreePort()
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder], {
    stdio: 'ignore',
  })
  await listening(port)
  return {
    version,
    // One contestant is on it at a time.
    async createDatabase() {
      const drop = (): Promise<void> => send(port, 'FLUSHALL', '+OK')
      await drop()
      return { url: `redis://127.0.0.1:${port}`, isOnServer: false, drop }
    },
    async stop() {
      server.kill()
      await once(server, 'exit')
      await rm(folder, { recursive: true })
    },
  }
}

async function listening(port: number): Promise<void> {
  const until = performance.now() + 10_000
  for (;;) {
    try {
      return await send(port, 'PING', '+PONG')
    } catch (error) {
      if (performance.now() > until) throw error
      await setTimeout(20)
    }
  }
}

/** One command without arguments, on a connection of its own. */
async function send(port: number, command: string, expected: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write(`${command}\r\n`)
    const [reply] = (await once(socket, 'data')) as [Buffer]
    const line = reply.toString().trim()
    if (line !== expected) throw new Error(`redis-server replied '${line}' to ${command}`)
  } finally {
    socket.destroy()
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
