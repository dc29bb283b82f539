// The binary as installed: compiled, and run by node.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeAll, inject, onTestFinished } from 'vitest'
import { setup } from '../support/setup.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { compiled } from './compiled.ts'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Going {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** The next line that it prints. */
  line(): Promise<string>
  /** The next line, parsed as JSON. */
  next(): Promise<Record<string, unknown>>
  /** Sends Ctrl-C; resolves with the exit. */
  interrupt(): Promise<Ended>
}

export interface Built {
  readonly folder: string
  run(url: string, ...argv: string[]): Promise<Ended>
  start(url: string, ...argv: string[]): Going
}

/** For all tests of a file. */
export function build(): Built {
  let folder = ''
  beforeAll(async () => {
    folder = await compiled()
  })
  const begin = (url: string, argv: readonly string[]) =>
    spawn(process.execPath, [join(folder, 'cli/main.js'), ...argv], {
      env: { ...process.env, FLOWFABRIC_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    get folder() {
      return folder
    },
    async run(url, ...argv) {
      const child = begin(url, argv)
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
      return { code, stdout, stderr }
    },
    start: (url, ...argv) => going(begin(url, argv)),
  }
}

function going(child: Going['child']): Going {
  const ended = once(child, 'exit')
  const errors = text(child.stderr)
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdout.setEncoding('utf8')
  let printed = ''
  let taken = 0
  let wake = (): void => {}
  child.stdout.on('data', (more: string) => {
    printed += more
    wake()
  })
  const silence = ended.then(async ([code]) => {
    throw new Error(`it ended (${String(code)}) without a further line:\n${await errors}`)
  })
  silence.catch(() => {})
  const line = async (): Promise<string> => {
    for (;;) {
      const end = printed.indexOf('\n', taken)
      if (end === -1) {
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), silence])
        continue
      }
      const found = printed.slice(taken, end)
      taken = end + 1
      return found
    }
  }
  return {
    child,
    line,
    next: async () => JSON.parse(await line()),
    async interrupt() {
      child.kill('SIGINT')
      const [code] = await ended
      return { code: code as number, stdout: printed, stderr: await errors }
    },
  }
}

/** A database for one test that another process can open. */
export async function ownDatabase(): Promise<string> {
  if (inject('backend') === 'postgres') return (await setup()).url
  return `file:${join(await ownFolder(), 'data base')}`
}

export async function ownFolder(): Promise<string> {
  const folder = await makeFolder('flowfabric-cli-', { inMemory: true })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
