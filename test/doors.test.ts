// The entry points of the package ("doors"): the files that one loads, by their imports, and the packages that these name; and its
// exports, compared with those of the other doors.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { routes } from '../src/api/routes.ts'

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
  '%s loads no database and no client before a URL names one, and never loads server code',
  async (door) => {
    const atOnce = await reach(door, staticImport)
    expect([...atOnce.packages].toSorted()).toEqual(['croner', 'ms', 'uuid'])
    const atLast = await reach(door, anyImport)
    expect([...atLast.packages].toSorted()).toEqual(['@electric-sql/pglite', 'croner', 'ms', 'pg', 'uuid'])
    expect([...atOnce.files].filter((file) => /^(client|api)\//.test(file))).toEqual([])
    expect([...atLast.files].filter((file) => /^(server|cli|api\/schema)\//.test(file))).toEqual([])
  },
)

test('client.ts never loads an engine, a database or a validator', async () => {
  const { files, packages } = await reach('client.ts', anyImport)
  expect([...packages].toSorted()).toEqual(['ms', 'uuid'])
  expect([...files].filter((file) => /^(engine|sql|server|cli|api\/schema)\//.test(file))).toEqual([])
})

test('no other door loads testing.ts', async () => {
  for (const door of ['worker.ts', 'index.ts', 'client.ts']) {
    const { files } = await reach(door, anyImport)
    expect([...files].filter((file) => file.startsWith('testing'))).toEqual([])
  }
  const { packages } = await reach('testing.ts', anyImport)
  expect([...packages].toSorted()).toEqual(['@electric-sql/pglite', 'croner', 'ms', 'uuid'])
})

const aDoor = /^export (type )?\{([^}]*)\} from '([^']+)'|^export \* from '([^']+)'/gm

/** For each exported name, its file and its name there. A door that re-exports another one has the same exports. */
async function exportsOf(door: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const source = await readFile(new URL(door, root), 'utf8')
  for (const [, isType, names, file, other] of source.matchAll(aDoor)) {
    if (other !== undefined) for (const [name, thing] of await exportsOf(other)) found.set(name, thing)
    for (const each of (names ?? '').split(',').filter((name) => name.trim() !== '')) {
      const [, own = '', of, as = of] = /^\s*(type )?(\w+)(?: as (\w+))?\s*$/.exec(each)!
      found.set(as!, `${isType === undefined && own === '' ? 'value' : 'type'} ${of} of ${file}`)
    }
  }
  return found
}

test('over all doors, a name has one meaning, and an export has one name', async () => {
  const doors = ['index.ts', 'worker.ts', 'client.ts', 'server.ts', 'testing.ts', 'opentelemetry.ts']
  const things = new Map<string, Set<string>>()
  const names = new Map<string, Set<string>>()
  const add = (to: Map<string, Set<string>>, key: string, value: string): void =>
    void to.set(key, (to.get(key) ?? new Set()).add(value))
  for (const door of doors) {
    const found = await exportsOf(door)
    expect(found.size).toBeGreaterThan(0)
    for (const [name, thing] of found) {
      add(things, name, thing)
      add(names, thing.replace(/^(value|type) /, ''), name)
    }
  }
  const several = (map: Map<string, Set<string>>) => [...map].filter(([, values]) => values.size > 1)
  // The one name with two meanings: each door connects in its own ways.
  expect(several(things).map(([name]) => name)).toEqual(['connect'])
  expect(several(names)).toEqual([])
})

test('tasks are written and run with the same names through each door', async () => {
  const [index, worker, client] = await Promise.all(['index.ts', 'worker.ts', 'client.ts'].map(exportsOf))
  const aboutADatabase = ['ConnectOptions', 'SigningOptions', 'TransactionClient', 'Within']
  const ofTasks = [...worker!.keys()].filter((name) => !aboutADatabase.includes(name))
  expect([...client!.keys()].toSorted()).toEqual(ofTasks.toSorted())
  expect([...worker!.keys()].filter((name) => !index!.has(name))).toEqual([])
  // The names that a task and the code that runs it need.
  const needed =
    'connect task Context ContextWaitpoint SignalTypes Codec jsonCodec Telemetry WorkerOptions EngineError PermanentError ' +
    'StepError ChildError WaitTimeoutError StepTimeoutError'
  expect(needed.split(' ').filter((name) => !ofTasks.includes(name))).toEqual([])
  // Every noun of the engine has its interface in the main door.
  const nouns = Object.keys(routes).filter((noun) => noun !== 'serverTime')
  const interfaces = nouns.map((noun) => noun.charAt(0).toUpperCase() + noun.slice(1))
  expect(interfaces.filter((name) => !index!.get(name)?.endsWith('of ./engine/contract.ts'))).toEqual([])
})

test('tsconfig.json leads to every door of the package', async () => {
  const read = async (name: string) => JSON.parse(await readFile(new URL(`../${name}`, root), 'utf8'))
  const [{ exports }, { compilerOptions }] = [await read('package.json'), await read('tsconfig.json')]
  const doors = Object.entries<{ types: string }>(exports).filter(([, leads]) => typeof leads === 'object')
  const expected = doors.map(([door, { types }]) => [
    door.replace(/^\./, 'flowfabric'),
    [types.replace('/dist/', '/src/').replace('.d.ts', '.ts')],
  ])
  expect(compilerOptions.paths).toEqual(Object.fromEntries(expected))
})
