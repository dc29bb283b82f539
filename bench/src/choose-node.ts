// Every contestant runs on the same Node: this one if all of them support it, otherwise the one of npm's package
// `node`. Only pg-boss and Graphile Worker have bounds above ours.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const oldest = [22, 18] as const

export async function chooseNode(): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return process.execPath
  const command = ['--yes', '--package=node@24', 'node', '--print', 'process.execPath']
  const { stdout } = await promisify(execFile)('npx', command)
  return stdout.trim()
}
