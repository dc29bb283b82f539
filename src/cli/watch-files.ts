// Tells when one of some files has changed, or has come to be. Folders are watched, because an editor may put a new file in the
// place of the old.
import { existsSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, extname } from 'node:path'

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
    const stems = new Map<string, Set<string>>()
    for (const file of files) {
      const [folder, name] = placeOf(file)
      stems.set(folder, (stems.get(folder) ?? new Set()).add(stemOf(name)))
    }
    this.#watchers = [...stems].map(([folder, inFolder]) =>
      watch(folder, (_, name) => {
        if (name !== null && !inFolder.has(stemOf(name))) return
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

/** The folder that is there, and what in it leads to the file. */
function placeOf(file: string): [folder: string, name: string] {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? [folder, basename(file)] : placeOf(folder)
}

// An import of ./part.js may mean part.ts.
function stemOf(name: string): string {
  return basename(name, extname(name))
}
