// The published package: packed, unpacked into a project that its own binary wrote, and used there.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const pglite = '@electric-sql/pglite'

let folder: string

/** A folder that contains the packed package, its dependencies and those of a new project. */
beforeAll(async () => {
  folder = await makeFolder('flowfabric-init-', { inMemory: false })
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root })
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  await execute('tar', ['-xzf', filename], { cwd: folder })
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await link('flowfabric', join(folder, 'package'))
  for (const name of [...Object.keys(dependencies), 'tsx', 'typescript', '@types/node']) await link(name)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function link(name: string, to = join(root, 'node_modules', name)): Promise<void> {
  const from = join(folder, 'node_modules', name)
  await mkdir(dirname(from), { recursive: true })
  await symlink(to, from)
}

/** The first command that the output suggests. The later output is read and dropped. */
async function suggestionOf(output: Readable): Promise<string> {
  const lines = createInterface({ input: output })
  for await (const line of lines) {
    if (!line.includes(' submit ')) continue
    output.resume()
    return line.trim()
  }
  throw new Error('dev has suggested nothing')
}

// A type from a package without types of its own would be `any` here, and accept every value.
const types = `import type { Duration } from 'flowfabric'
export const durations: Duration[] = [250, '250ms', '30s', '1.5 hours', '2D', '7 Days']
// @ts-expect-error -- no unit
export const wrong: Duration = '2 dayz'
`

const remote = `import { connect } from 'flowfabric'
const refusals = []
for (const url of ['file:./data', 'memory:', 'http://127.0.0.1:9']) {
  const options = url.startsWith('http') ? { retryFor: 0 } : {}
  const { code, message } = await connect(url, options).then(({ engine }) => engine.serverTime()).catch((error) => error)
  refusals.push([url, code, message])
}
console.log(JSON.stringify(refusals))
`
const image = `import { readImage } from './package/dist/sql/embedded-image.js'
import { migrations } from './package/dist/sql/migrations/all.js'
console.log((await readImage(migrations)) === null ? 'none fits' : 'found')
`
const remoteTypes = `import { connect, task } from 'flowfabric'
import { connect as connectServer } from 'flowfabric/client'
import { serve } from 'flowfabric/server'
export const things = [connect, task, connectServer, serve]
`
const remoteOptions = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2023', '--module', 'nodenext']

// This test comes first, because PGlite is linked only after it: `npm install --omit=optional` omits it.
test('without PGlite the types and the client work, and the error for an embedded URL says what to install', async () => {
  const project = join(folder, 'remote')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  await writeFile(join(project, 'remote.ts'), remoteTypes)
  await writeFile(join(project, 'remote.mjs'), remote)
  const node = (...args: string[]) => execute(process.execPath, args, { cwd: project })
  await node(join(root, 'node_modules/typescript/bin/tsc'), ...remoteOptions, '--types', 'node', 'remote.ts')
  const { stdout } = await node('remote.mjs')
  expect(JSON.parse(stdout)).toEqual([
    ['file:./data', 'embedded_not_installed', expect.stringContaining('npm install @electric-sql/pglite')],
    ['memory:', 'embedded_not_installed', expect.stringContaining('or use postgres://')],
    ['http://127.0.0.1:9', 'server_unreachable', expect.not.stringContaining('pglite')],
  ])
})

test('the package has one image of a database, which fits its schema and the PGlite that it names', async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8'))
  // A range would allow a PGlite that the image does not fit.
  expect(optionalDependencies[pglite]).toMatch(/^\d+\.\d+\.\d+$/)
  await link(pglite)
  const installed = JSON.parse(await readFile(join(folder, 'node_modules', pglite, 'package.json'), 'utf8'))
  expect(installed.version).toBe(optionalDependencies[pglite])
  const files = await readdir(join(folder, 'package/dist/sql'))
  expect(files.filter((file) => file.startsWith('embedded-') && file.endsWith('.br'))).toHaveLength(1)
  await writeFile(join(folder, 'image.mjs'), image)
  const { stdout } = await execute(process.execPath, ['image.mjs'], { cwd: folder })
  expect(stdout).toBe('found\n')
})

test('init writes a project whose types fit, whose test passes and whose script runs', async () => {
  const project = join(folder, 'My App')
  const node = (...args: string[]) =>
    execute(process.execPath, args, { cwd: project, env: { ...process.env, FLOWFABRIC_URL: '' } })
  const flowfabric = join(folder, 'package/dist/cli/main.js')
  const written = await execute(process.execPath, [flowfabric, 'init', 'My App'], { cwd: folder })
  expect(written.stdout).toContain('npm test')
  const { name, scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
  expect(name).toBe('my-app')
  expect(scripts.start).toBe('tsx start.ts')

  await writeFile(join(project, 'types.ts'), types)
  await node(join(root, 'node_modules/typescript/bin/tsc'), '--noEmit')
  // As `npm test` runs it.
  const [, ...testing] = scripts.test.split(' ')
  const tested = await node(...testing)
  expect(tested.stdout).toContain('# pass 3')
  const started = await node('--import', 'tsx', 'start.ts')
  expect(started.stdout).toContain("{ payment: 'payment of 42', parcel: 'parcel of order-1' }")
  const listed = await node(flowfabric, 'list')
  expect(listed.stdout).toMatch(/^[\da-f-]{36}\tcompleted\tfulfil\t/)

  // The command that dev suggests, as printed.
  const dev = spawn(process.execPath, [flowfabric, 'dev', 'tasks.ts', '--port', '0'], {
    cwd: project,
    env: { ...process.env, FLOWFABRIC_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const command = await suggestionOf(dev.stdout)
    const submitted = await execute('sh', ['-c', command.replace(/^\S+ flowfabric/, `node '${flowfabric}'`)], {
      cwd: project,
      env: { ...process.env, FLOWFABRIC_URL: '' },
    })
    expect(submitted.stdout).toContain('parcel of order-1')
  } finally {
    const ended = once(dev, 'exit')
    dev.kill('SIGINT')
    await ended
  }

  const again = node(flowfabric, 'init', '.')
  await expect(again).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('has package.json, tasks.ts') })
})
