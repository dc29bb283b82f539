import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileWatch } from '../../src/cli/watch-files.ts'
import { makeFolder } from '../support/temporary-folder.ts'

interface Watching {
  readonly folder: string
  readonly watch: FileWatch
  /** Resolves when a change is told. */
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

test('a file that is written, replaced, removed or made again is told of', async () => {
  const { folder, watch, changed } = await watching()
  const file = join(folder, 'tasks.ts')
  await writeFile(file, '1')
  watch.watch([file])
  for (const act of [
    () => writeFile(file, '2'),
    () => writeFile(join(folder, 'new'), '3').then(() => rename(join(folder, 'new'), file)),
    () => rm(file),
    () => writeFile(file, '4'),
  ]) {
    const told = changed()
    await act()
    await told
  }
})

test('what is not there is told of when it comes, also by another extension, or its folder', async () => {
  const { folder, watch, changed } = await watching()
  const wanted = join(folder, 'lib/deep/part.js')
  watch.watch([wanted])
  const first = changed()
  await mkdir(join(folder, 'lib'))
  await first
  watch.watch([wanted])
  const second = changed()
  await mkdir(join(folder, 'lib/deep'))
  await second
  watch.watch([wanted])
  const third = changed()
  await writeFile(join(folder, 'lib/deep/part.ts'), '')
  await third
})

test('other files of the folder are not told of', async () => {
  const { folder, watch, changed } = await watching()
  const file = join(folder, 'tasks.ts')
  watch.watch([file])
  let count = 0
  const counting = async (): Promise<void> => {
    await changed()
    count += 1
  }
  const counted = counting()
  await writeFile(join(folder, 'other.ts'), '')
  await writeFile(join(folder, 'tasks.test.ts'), '')
  await new Promise((resolve) => setTimeout(resolve, 150)) // longer than it takes for a change to settle
  expect(count).toBe(0)
  await writeFile(file, '')
  await counted
})
