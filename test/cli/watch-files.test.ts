import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileWatch } from '../../src/cli/watch-files.ts'
import { makeFolder } from '../support/temporary-folder.ts'

// Changes before the watch are ignored.
const never = Infinity

interface Watching {
  readonly folder: string
  readonly watch: FileWatch
  /** Resolves when a change is reported. */
  changed(): Promise<void>
}

async function watching(): Promise<Watching> {
  const folder = await makeFolder('flowfabric-watch-', { inMemory: true })
  let tell = (): void => {}
  const watch = new FileWatch(() => tell())
  onTestFinished(async () => {
    watch.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { folder, watch, changed: () => new Promise((resolve) => (tell = resolve)) }
}

test('a file that is written, replaced, removed or created again is reported', async () => {
  const { folder, watch, changed } = await watching()
  const file = join(folder, 'tasks.ts')
  await writeFile(file, '1')
  watch.watch([file], never)
  for (const act of [
    () => writeFile(file, '2'),
    () => writeFile(join(folder, 'new'), '3').then(() => rename(join(folder, 'new'), file)),
    () => rm(file),
    () => writeFile(file, '4'),
  ]) {
    const change = changed()
    await act()
    await change
  }
})

test('a missing file is reported when it appears, also with another extension or with its folder', async () => {
  const { folder, watch, changed } = await watching()
  const wanted = join(folder, 'lib/deep/part.js')
  watch.watch([wanted], never)
  const first = changed()
  await mkdir(join(folder, 'lib'))
  await first
  watch.watch([wanted], never)
  const second = changed()
  await mkdir(join(folder, 'lib/deep'))
  await second
  watch.watch([wanted], never)
  const third = changed()
  await writeFile(join(folder, 'lib/deep/part.ts'), '')
  await third
})

test('other files of the folder are not reported', async () => {
  const { folder, watch, changed } = await watching()
  const file = join(folder, 'tasks.ts')
  watch.watch([file], never)
  let count = 0
  const counting = async (): Promise<void> => {
    await changed()
    count += 1
  }
  const counted = counting()
  await writeFile(join(folder, 'other.ts'), '')
  await writeFile(join(folder, 'tasks.test.ts'), '')
  await settled()
  expect(count).toBe(0)
  await writeFile(file, '')
  await counted
})

test('a file that was changed or created between a load and the watch is reported once', async () => {
  const { folder, watch, changed } = await watching()
  const [file, wanted] = [join(folder, 'tasks.ts'), join(folder, 'lib/part.js')]
  await writeFile(file, '1')
  const loadedAt = Date.now() + 1000
  watch.watch([file], loadedAt)
  let count = 0
  const counting = async (): Promise<void> => {
    await changed()
    count += 1
    await counting()
  }
  void counting()
  await settled()
  expect(count).toBe(0)
  watch.watch([file], loadedAt - 60_000)
  await settled()
  expect(count).toBe(1)
  watch.watch([file], loadedAt - 60_000)
  await settled()
  expect(count).toBe(1)
  await mkdir(join(folder, 'lib'))
  await writeFile(join(folder, 'lib/part.ts'), '')
  watch.watch([wanted], loadedAt - 60_000)
  await settled()
  expect(count).toBe(2)
})

/** Longer than the report of a change takes. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 150))
}
