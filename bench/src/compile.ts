// The measured code runs as users run it: compiled, with no loader in its process (a loader takes 20 to 35 MB,
// measured).
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import path from 'node:path'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = path.join(root, 'bench')

export async function compile(): Promise<void> {
  await build(path.join(folder, 'tsconfig.json'))
}

/** The peers of other vendors, which need their packages. */
export async function compilePeers(): Promise<void> {
  await build(path.join(folder, 'peers/tsconfig.json'))
}

async function build(project: string): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const program = path.join(path.dirname(compiler), 'bin/tsc')
  await promisify(execFile)(process.execPath, [program, '-p', project])
}

/** The compiled form of one of our files. */
export function compiled(file: URL): URL {
  const inRepository = path.relative(root, fileURLToPath(file))
  return pathToFileURL(path.join(folder, 'dist', inRepository.replace(/\.ts$/, '.js')))
}
