// Proves that a holder is alive where a pid cannot: a socket in the directory, on which the holder listens. Any process
// on the same kernel can connect, from any container; when the holder is dead, however it died, the connect is refused.
// The kernel accepts the connection, even while the holder is busy. Only on Linux, which has pid namespaces, and where
// a path through the open directory is short enough for a socket; and only on file systems that support sockets.
import { open, rm, type FileHandle } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'

export interface SignOfLife {
  /** The file of the socket in the directory. */
  readonly socket: string
  end(): Promise<void>
}

/** Null where no socket can be created. */
export async function giveSignOfLife(directory: string, id: string): Promise<SignOfLife | null> {
  if (process.platform !== 'linux') return null
  const socket = `lock.socket.${id}`
  const handle = await open(directory)
  const server = createServer((visitor) => visitor.destroy())
  try {
    server.listen(pathIn(handle, socket))
    await once(server, 'listening')
  } catch {
    await handle.close()
    return null
  }
  server.unref()
  return { socket, end: () => end(server, handle, join(directory, socket)) }
}

export async function isAlive(directory: string, socket: string): Promise<boolean> {
  const handle = await open(directory)
  const knock = connect(pathIn(handle, socket))
  try {
    await once(knock, 'connect')
    return true
  } catch (error) {
    // Any other error, such as a missing right, proves nothing.
    const { code = '' } = error as NodeJS.ErrnoException
    return code !== 'ECONNREFUSED' && code !== 'ENOENT'
  } finally {
    knock.destroy()
    await handle.close()
  }
}

function pathIn(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`
}

async function end(server: Server, handle: FileHandle, file: string): Promise<void> {
  server.close()
  await rm(file, { force: true })
  await handle.close()
}
