// Starts a real Postgres from npm's binaries: as root or not, in any folder, on a free port, in a temporary directory.
//
// A small shell keeps the server: it starts it, restarts it for each line of its standard input, and at the end of that
// input stops it and removes the directory. Only this process holds the other end of the pipe, so stop() and a killed
// parent are the same event, and no server outlives the process that started it.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { prepareBinaries } from './postgres-binaries.ts'
import type { PostgresVersion } from './postgres-binaries.ts'
import { makeFolder } from './temporary-folder.ts'

export type { PostgresVersion } from './postgres-binaries.ts'

export interface PostgresOptions {
  /** Without a version, the server that TEST_DATABASE_URL names replaces the one that would be started. */
  readonly version?: PostgresVersion
  /** Commits reach the disk. Off by default, because tests need not survive a power cut; benchmarks switch it on. */
  readonly durable?: boolean
  /** Further configuration, such as `shared_buffers`. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningPostgres {
  /** The URL of the maintenance database, as the superuser. */
  readonly url: string
  /** Acts as a crash of the server: every session is cut off, and the server recovers from its log. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(options: PostgresOptions = {}): Promise<RunningPostgres> {
  const given = process.env['TEST_DATABASE_URL']
  if (given && options.version === undefined) return { url: given, restart: refuseRestart, stop: async () => {} }

  const owner = chooseOwner()
  const home = await makeFolder('flowfabric-postgres-', { inMemory: !options.durable })
  try {
    const binaries = await prepareBinaries(options.version ?? 18, path.join(home, 'native'), owner !== null)
    if (owner) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, home])
    const keeper = spawn('/bin/sh', ['-c', keeperScript], {
      ...owner,
      cwd: home,
      // A session of its own: Ctrl-C in a terminal must reach the tests, not the keeper.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        LC_ALL: 'C',
        TZ: 'UTC',
        HOME_DIRECTORY: home,
        BINARIES: path.join(binaries, 'bin'),
        PORTS: (await findFreePorts(3)).join(' '),
        SETTINGS: settingsOf(options),
      },
    })
    const port = await readPort(keeper)
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    return { url, restart: () => restart(keeper), stop: () => stop(keeper) }
  } catch (error) {
    await rm(home, { recursive: true, force: true })
    throw error
  }
}

// Another process may take a free port between our check and the start, hence several tries.
const keeperScript = `
trap 'cd /; rm -rf "$HOME_DIRECTORY"' EXIT
{
  "$BINARIES/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync &&
  for port in $PORTS; do
    "$BINARIES/pg_ctl" start --wait --pgdata=data --log=server.log --options="-p $port $SETTINGS" && break
  done
} >start.log 2>&1 || { cat start.log server.log >&2 2>/dev/null; exit 1; }
echo "$port"
while read -r order; do
  "$BINARIES/pg_ctl" restart --wait --mode=immediate --pgdata=data --log=server.log >restart.log 2>&1
  echo $?
done
"$BINARIES/pg_ctl" stop --silent --mode=immediate --pgdata=data
`

const notDurable = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '256MB' }

function settingsOf(options: PostgresOptions): string {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    // Socket paths are limited to about a hundred bytes, which a temporary folder can exceed.
    unix_socket_directories: '',
    max_connections: '200',
    // The other way is the memory file system, which is too small in many containers.
    dynamic_shared_memory_type: 'mmap',
    ...(options.durable ? {} : notDurable),
    ...options.settings,
  }
  const words = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`)
  return words.join(' ')
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Postgres refuses to run as root; the user `nobody` exists everywhere, so no account has to be created. */
function chooseOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null
  const readId = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: readId('-u'), gid: readId('-g') }
}

async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

async function readPort(keeper: ChildProcess): Promise<number> {
  const problems = text(keeper.stderr!)
  const exited = once(keeper, 'exit').then(() => null)
  const output = await Promise.race([once(keeper.stdout!, 'data'), exited])
  if (output === null) throw new Error(`Postgres did not start:\n${await problems}`)
  // A program that forgets to stop its server must still end, and its end stops the server.
  keeper.unref()
  for (const stream of keeper.stdio) (stream as Socket | null)?.unref()
  return Number(String(output[0]))
}

async function restart(keeper: ChildProcess): Promise<void> {
  keeper.stdin!.write('restart\n')
  const [code] = await once(keeper.stdout!, 'data')
  if (Number(String(code)) !== 0) throw new Error('Postgres did not start again')
}

async function refuseRestart(): Promise<void> {
  throw new Error('the server that TEST_DATABASE_URL names is not ours to restart')
}

async function stop(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return
  const exited = once(keeper, 'exit')
  keeper.ref()
  keeper.stdin!.end()
  await exited
}
