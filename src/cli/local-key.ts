// The API key of an embedded directory: a user who may read the folder may use the server that has it open. The key is
// created once and stored in the folder, readable for its owner alone.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { localKeyPath } from '../connect/local-server.ts'
import type { Engine } from '../engine/contract.ts'

/** The stored key, if it is still valid; otherwise a new one. */
export async function ensureLocalKey(engine: Engine, directory: string): Promise<{ key: string; path: string }> {
  const path = localKeyPath(directory)
  const found = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (found !== '' && (await engine.apiKeys.authenticate({ key: found })) !== null) return { key: found, path }
  const { key } = await engine.apiKeys.create({ name: 'local', scopes: ['admin'] })
  // Created anew, so that the old file cannot pass on wider rights.
  await rm(path, { force: true })
  await writeFile(path, `${key}\n`, { flag: 'wx', mode: 0o600 })
  return { key, path }
}
