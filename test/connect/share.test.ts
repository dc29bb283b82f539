import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { localKeyPath } from '../../src/connect/local-server.ts'
import { serve } from '../../src/server/serve.ts'
import { refusal } from '../support/refusal.ts'
import { makeFolder } from '../support/temporary-folder.ts'

test('whoever is given a directory that another process serves talks to that process', async () => {
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

  // What would not be the same is refused as before.
  await refusal('directory_locked', connect(url, { share: false }))
  await refusal('directory_locked', connect(url, { schema: 'another' }))
  await holder.announce(null)
  await refusal('directory_locked', connect(url))
}, 120_000)

test('share is true or false, and of directories alone', async () => {
  await refusal('invalid_input', connect('memory:', { share: 'yes' as never }))
  await refusal('invalid_input', connect('postgres://nobody@127.0.0.1:1/none', { share: true }))
  await refusal('invalid_input', connect('http://127.0.0.1:1', { share: true }))
})
