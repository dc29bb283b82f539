// The command that started this program, so that suggested commands work in the same shell.
import { basename, extname, relative } from 'node:path'

export function calledAs(script: string, folder: string): string {
  if (extname(script) === '.ts') return `npx tsx ${relative(folder, script)}`
  const isOnPath = basename(script) === 'flowfabric' && !script.includes('node_modules')
  return isOnPath ? 'flowfabric' : 'npx flowfabric'
}
