// Tells when one of some files has changed. Folders are watched, because an editor may put a new file in the place of the old.
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

// An editor writes in several goes.
const settleMs = 100

export class FileWatch {
  readonly #onChange: () => void
  #watchers: FSWatcher[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** These and no others; a change that was seen before and not yet told is still told. */
  watch(files: Iterable<string>): void {
    const before = this.#watchers
    const names = new Map<string, Set<string>>()
    for (const file of files) {
      const folder = dirname(file)
      names.set(folder, (names.get(folder) ?? new Set()).add(basename(file)))
    }
    this.#watchers = [...names].map(([folder, inFolder]) =>
      watch(folder, (_, name) => {
        if (name !== null && !inFolder.has(name)) return
        clearTimeout(this.#timer)
        this.#timer = setTimeout(this.#onChange, settleMs)
      }),
    )
    for (const watcher of before) watcher.close()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers = []
  }
}
