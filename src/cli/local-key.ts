// The API key of an embedded directory: whoever may read the folder may use the server that has it open. It is made once and
// lies in the folder, for its owner alone.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { localKeyPath } from '../connect/local-server.ts'
import type { Engine } from '../engine/contract.ts'

/** The one that is there, if it still opens anything; else a new one. */
export async function ensureLocalKey(engine: Engine, directory: string): Promise<{ key: string; path: string }> {
  const path = localKeyPath(directory)
  const found = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (found !== '' && (await engine.apiKeys.authenticate({ key: found })) !== null) return { key: found, path }
  const { key } = await engine.apiKeys.create({ name: 'local', scopes: ['admin'] })
  // Made anew, so that what was there cannot lend it wider rights.
  await rm(path, { force: true })
  await writeFile(path, `${key}\n`, { flag: 'wx', mode: 0o600 })
  return { key, path }
}
