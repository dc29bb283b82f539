// The package as it is published: packed, unpacked into a project that its own binary wrote, and used there.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** A folder whose packages are the packed one, and what it and a new project depend on. */
async function folderWithPackage(): Promise<string> {
  const folder = await makeFolder('flowfabric-init-', { inMemory: false })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root })
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  await execute('tar', ['-xzf', filename], { cwd: folder })
  const packages = join(folder, 'node_modules')
  await mkdir(packages)
  await symlink(join(folder, 'package'), join(packages, 'flowfabric'))
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  for (const name of [...Object.keys(dependencies), 'tsx', 'typescript', '@types/node']) {
    await mkdir(dirname(join(packages, name)), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(packages, name))
  }
  return folder
}

// A type that comes from a package without types of its own would be `any` here, and take everything.
const types = `import type { Duration } from 'flowfabric'
export const durations: Duration[] = [250, '250ms', '30s', '1.5 hours', '2D', '7 Days']
// @ts-expect-error -- no unit
export const wrong: Duration = '2 dayz'
`

test('init writes a project whose types fit, whose test passes and whose script runs', async () => {
  const folder = await folderWithPackage()
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
  // As `npm test` has it.
  const [, ...testing] = scripts.test.split(' ')
  const tested = await node(...testing)
  expect(tested.stdout).toContain('# pass 3')
  const started = await node('--import', 'tsx', 'start.ts')
  expect(started.stdout).toContain("{ payment: 'payment of 42', parcel: 'parcel of order-1' }")
  const listed = await node(flowfabric, 'list')
  expect(listed.stdout).toMatch(/^\{fp:\d+\}:\S+\tcompleted\tfulfil\t/)

  const again = node(flowfabric, 'init', '.')
  await expect(again).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('has package.json, tasks.ts') })
})
