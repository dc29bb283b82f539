// What a door loads: the files behind it, by their imports, and the packages these name.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = new URL('../src/', import.meta.url)
const staticImport = /^(?:import|export)(?! type)[^'"]*?from '([^']+)'|^import '([^']+)'/gm
const anyImport = /(?:^(?:import|export)(?! type)[^'"]*?from |^import |\bimport\()'([^']+)'/gm

async function reach(door: string, pattern: RegExp): Promise<{ files: Set<string>; packages: Set<string> }> {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = async (file: URL): Promise<void> => {
    const name = fileURLToPath(file).slice(fileURLToPath(root).length)
    if (files.has(name)) return
    files.add(name)
    const source = await readFile(file, 'utf8')
    for (const [, one, other] of source.matchAll(pattern)) {
      const found = one ?? other!
      if (found.startsWith('.')) await visit(new URL(found, file))
      else if (!found.startsWith('node:')) packages.add(found)
    }
  }
  await visit(new URL(door, root))
  return { files, packages }
}

test.each(['worker.ts', 'index.ts'])(
  '%s loads no database and no client before a URL names one, and nothing of a server ever',
  async (door) => {
    const atOnce = await reach(door, staticImport)
    expect([...atOnce.packages].toSorted()).toEqual(['croner', 'ms', 'uuid'])
    const atLast = await reach(door, anyImport)
    expect([...atLast.packages].toSorted()).toEqual(['@electric-sql/pglite', 'croner', 'ms', 'pg', 'uuid'])
    expect([...atOnce.files].filter((file) => /^(client|api)\//.test(file))).toEqual([])
    expect([...atLast.files].filter((file) => /^(server|cli|api\/schema)\//.test(file))).toEqual([])
  },
)

test('client.ts loads no engine, no database and no validator, ever', async () => {
  const { files, packages } = await reach('client.ts', anyImport)
  expect([...packages].toSorted()).toEqual(['ms', 'uuid'])
  expect([...files].filter((file) => /^(engine|sql|server|cli|api\/schema)\//.test(file))).toEqual([])
})

test('testing.ts is loaded by no other door', async () => {
  for (const door of ['worker.ts', 'index.ts', 'client.ts']) {
    const { files } = await reach(door, anyImport)
    expect([...files].filter((file) => file.startsWith('testing'))).toEqual([])
  }
  const { packages } = await reach('testing.ts', anyImport)
  expect([...packages].toSorted()).toEqual(['@electric-sql/pglite', 'croner', 'ms', 'uuid'])
})
