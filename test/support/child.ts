// Real child processes, written in TypeScript. They use node's message channel and can be killed at any moment.
import { spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

export interface ChildOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A program, with its arguments, that starts the child: `['unshare', '--pid', ...]`. */
  readonly by?: readonly string[]
}

export interface Child {
  readonly pid: number
  /** An exit code or a signal. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** The next message of the child, in order; an error when the child ends without one. */
  next(): Promise<unknown>
  send(message: object): void
  /** Ends the child, by default without a chance to clean up, and waits until it has exited. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

/**
 * Runs a TypeScript file: `startChild(new URL('./writer.child.ts', import.meta.url))`. The child ends with the test.
 */
export function startChild(file: URL, options: ChildOptions = {}): Child {
  const node = [process.execPath, '--import', loader, fileURLToPath(file), ...(options.args ?? [])]
  const [program = '', ...args] = [...(options.by ?? []), ...node]
  const child = spawn(program, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  const errors = text(child.stderr!)
  const messages = on(child, 'message')
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals)
  // Messages sent just before the end arrive after the exit, but before the channel is closed.
  const silenced = Promise.all([ended, once(child, 'disconnect')])

  async function next(): Promise<unknown> {
    const silence = silenced.then(async ([how]) => {
      throw new Error(`the child ended (${how}) without a further message:\n${await errors}`)
    })
    const message = await Promise.race([messages.next(), silence])
    return message.value[0]
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    child.kill(signal)
    await ended
  }

  onTestFinished(() => kill())
  return { pid: child.pid!, ended, next, send: (message) => void child.send(message), kill }
}
