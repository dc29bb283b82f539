// How this program was called, so that what it tells people to type works where they are.
import { basename, extname, relative } from 'node:path'

export function calledAs(script: string, folder: string): string {
  if (extname(script) === '.ts') return `npx tsx ${relative(folder, script)}`
  const isOnPath = basename(script) === 'flowfabric' && !script.includes('node_modules')
  return isOnPath ? 'flowfabric' : 'npx flowfabric'
}
