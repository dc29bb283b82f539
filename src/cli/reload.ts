// Loads the tasks again whenever one of their files changes. A failed load is reported, and the earlier tasks continue
// to run.
import type { Task } from '../worker/task.ts'
import type { Cli } from './cli.ts'
import type { TaskLoader } from './load-tasks.ts'
import { harmless } from './text.ts'
import { FileWatch } from './watch-files.ts'

export interface Reload {
  readonly cli: Cli
  readonly path: string
  readonly loader: TaskLoader
  readonly run: (tasks: readonly Task[]) => Promise<void>
}

/** Runs until it is closed; a load under way finishes then. */
export function reloadOnChange({ cli, path, loader, run }: Reload): { close(): Promise<void> } {
  let turn = Promise.resolve()
  const again = async (): Promise<void> => {
    try {
      const tasks = await loadAndWatch()
      await run(tasks)
      const names = tasks.map((task) => task.name)
      say(cli, { kind: 'loaded', tasks: names }, [`reloaded: ${names.join(', ')}`])
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const sentence = `${path} cannot be loaded; the previous version keeps running:`
      say(cli, { kind: 'not_loaded', message }, [sentence, ...message.split('\n')])
    }
  }
  // Before any output: its reader may write the next change at once.
  const loadAndWatch = async (): Promise<readonly Task[]> => {
    try {
      return await loader.load()
    } finally {
      files.watch(loader.files, loader.begunAt)
    }
  }
  const files = new FileWatch(() => {
    turn = turn.then(again)
  })
  files.watch(loader.files, loader.begunAt)
  const close = async (): Promise<void> => {
    files.close()
    await turn
    files.close()
  }
  return { close }
}

function say(cli: Cli, event: object, lines: readonly string[]): void {
  if (cli.json) return cli.out.line(JSON.stringify(event))
  for (const line of lines) cli.out.line(cli.out.colours.bold(harmless(line)))
}
