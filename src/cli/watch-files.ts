// Reports when one of some files has changed, or was created. Folders are watched, because an editor may replace a
// file.
import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, extname } from 'node:path'

// An editor may write a file in several parts.
const settleMs = 100
// The times of a file may be those of the kernel's last tick.
const tickMs = 20

export class FileWatch {
  readonly #onChange: () => void
  #watchers: FSWatcher[] = []
  #timer: NodeJS.Timeout | undefined
  /** When each was last found to have changed without an event: reported once, whatever the clock of its disk shows. */
  readonly #found = new Map<string, number>()

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /**
   * Watches these files and no others, as they were at `since`: changes from then until now are reported too, and so is
   * a change that was seen before and is not yet reported.
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

  // For a missing file, its folder is compared: the file may have been created with another extension.
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

/** The nearest existing folder, and the name in it that leads to the file. */
function placeOf(file: string): [folder: string, name: string] {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? [folder, basename(file)] : placeOf(folder)
}

// An import of ./part.js may mean part.ts.
function stemOf(name: string): string {
  return basename(name, extname(name))
}
