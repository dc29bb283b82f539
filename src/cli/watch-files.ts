// Tells when one of some files has changed, or has come to be. Folders are watched, because an editor may put a new file in the
// place of the old.
import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, extname } from 'node:path'

// An editor writes in several goes.
const settleMs = 100
// A file's times may be those of the kernel's last tick.
const tickMs = 20

export class FileWatch {
  readonly #onChange: () => void
  #watchers: FSWatcher[] = []
  #timer: NodeJS.Timeout | undefined
  /** When each was last found to have changed without an event: told once, whatever the clock of its disk says. */
  readonly #found = new Map<string, number>()

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /**
   * These and no others, as they were at `since`: what has changed from then until now is told too, and a change that was seen
   * before and not yet told is still told.
   */
  watch(files: Iterable<string>, since: number): void {
    const before = this.#watchers
    const stems = new Map<string, Set<string>>()
    for (const file of files) {
      const [folder, name] = placeOf(file)
      stems.set(folder, (stems.get(folder) ?? new Set()).add(stemOf(name)))
    }
    this.#watchers = [...stems].map(([folder, inFolder]) =>
      watch(folder, (_, name) => {
        if (name === null || inFolder.has(stemOf(name))) this.#changed()
      }),
    )
    for (const watcher of before) watcher.close()
    for (const file of files) if (this.#hasChanged(file, since)) this.#changed()
  }

  #changed(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onChange, settleMs)
  }

  // Of one that is not there, its folder: what was wanted may have come to it by another extension.
  #hasChanged(file: string, since: number): boolean {
    const found = statSync(file, { throwIfNoEntry: false }) ?? statSync(placeOf(file)[0], { throwIfNoEntry: false })
    const changedAt = found?.ctimeMs ?? 0
    if (changedAt < since - tickMs || this.#found.get(file) === changedAt) return false
    this.#found.set(file, changedAt)
    return true
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
