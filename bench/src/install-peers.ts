// Peers of other makers are installed when a scenario first needs them, and again after a change of their lock file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import path from 'node:path'

const folder = fileURLToPath(new URL('../peers', import.meta.url))

export async function installPeers(): Promise<void> {
  const installedAt = await changedAt('node_modules/.package-lock.json')
  if (installedAt > 0 && installedAt >= (await changedAt('package-lock.json'))) return
  console.log('installing the peers in bench/peers (once)...')
  // Some need a newer Node than this one; they run on the Node that `chooseNode` finds.
  const npm = spawn('npm', ['ci', '--prefix', folder, '--loglevel=error'], { stdio: 'inherit' })
  const [code] = await once(npm, 'close')
  if (code !== 0) throw new Error(`npm ci --prefix ${folder} failed; its output is above`)
}

async function changedAt(file: string): Promise<number> {
  return stat(path.join(folder, file)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
