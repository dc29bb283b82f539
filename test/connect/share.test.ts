import { rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { localKeyPath, localServer } from '../../src/connect/local-server.ts'
import { serve } from '../../src/server/serve.ts'
import { lockDirectory } from '../../src/sql/lock.ts'
import { refusal } from '../support/refusal.ts'
import { listenWith } from '../support/serve-http.ts'
import { makeFolder } from '../support/temporary-folder.ts'

test('a process that opens a directory which another one serves becomes a client of that one', async () => {
  const folder = await makeFolder('flowfabric-share-', { inMemory: true })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const directory = join(folder, 'database')
  const url = `file:${directory}`
  const holder = await connect(url)
  onTestFinished(() => holder.close())
  await refusal('directory_locked', connect(url))

  const server = await serve({ ff: holder, port: 0, keys: true })
  onTestFinished(async () => void (await server.stop(0)))
  await holder.announce(server.url)
  await refusal('unauthenticated', connect(url))
  const { key } = await holder.engine.apiKeys.create({ name: 'local', scopes: ['admin'] })
  await writeFile(localKeyPath(directory), `${key}\n`, { mode: 0o600 })
  const guest = await connect(url)
  const { executionId } = await guest.engine.executions.create({ kind: 'k' })
  expect(await holder.engine.executions.describe(executionId)).toMatchObject({ kind: 'k', creator: 'local' })
  await guest.close()

  // Options that would not have the same effect are refused as before.
  await refusal('directory_locked', connect(url, { share: false }))
  await refusal('directory_locked', connect(url, { schema: 'another' }))
  await holder.announce(null)
  await refusal('directory_locked', connect(url))
})

test('share is true or false, and only for directories', async () => {
  await refusal('invalid_input', connect('memory:', { share: 'yes' as never }))
  await refusal('invalid_input', connect('postgres://nobody@127.0.0.1:1/none', { share: true }))
  await refusal('invalid_input', connect('http://127.0.0.1:1', { share: true }))
})

const planted = {
  pid: process.pid,
  since: '2026-11-18T00:00:00Z',
  hostname: 'other',
  boot: null,
  startTicks: null,
  namespace: null,
  id: 'x',
  socket: null,
}

test.each([
  ['names another host', {}],
  ['names this host, and a process that runs', { hostname: hostname() }],
  ['names this host and a socket without a listener', { hostname: hostname(), socket: 'lock.socket.x' }],
])('a copied lock that %s is not followed, and the key is not sent', async (_, traits) => {
  const directory = await makeFolder('flowfabric-planted-', { inMemory: true })
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  let requests = 0
  const listening = await listenWith(() => {
    requests += 1
    return new Response()
  })
  onTestFinished(() => listening.close())
  await writeFile(localKeyPath(directory), 'ff_secret\n')
  await writeFile(join(directory, 'lock.json'), JSON.stringify({ ...planted, ...traits, url: listening.url }))
  expect(await localServer(directory)).toBeNull()
  expect(requests).toBe(0)
})

test('a lock is followed to loopback only', async () => {
  const folder = await makeFolder('flowfabric-loopback-', { inMemory: true })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lock = await lockDirectory(folder)
  onTestFinished(() => lock.release())
  for (const url of ['http://127.0.0.1:7070', 'http://localhost:7070', 'http://[::1]:7070']) {
    await lock.setUrl(url)
    expect(await localServer(folder)).toEqual({ url })
  }
  for (const url of [
    'http://evil.example',
    'http://127.0.0.1.evil.example',
    'http://192.168.0.7:7070',
    'ftp://localhost',
    'x',
  ]) {
    await lock.setUrl(url)
    expect([url, await localServer(folder)]).toEqual([url, null])
  }
})
