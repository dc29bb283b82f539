// The TypeScript versions and module settings that the package supports: the compiler checks its types completely, with those of
// its dependencies.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { compiled } from '../cli/compiled.ts'
import { compileIn, root } from '../support/compile.ts'
import { makeFolder } from '../support/temporary-folder.ts'

/** A folder that has the compiled package among its packages. */
async function folderWithPackage(): Promise<string> {
  const folder = await makeFolder('flowfabric-settings-', { inMemory: false })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'package.json'), '{}')
  const installed = join(folder, 'node_modules/flowfabric')
  await mkdir(installed, { recursive: true })
  await copyFile(join(root, 'package.json'), join(installed, 'package.json'))
  await symlink(await compiled(), join(installed, 'dist'))
  await symlink(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  return folder
}

const program = `import { connect, task, type Context, type Handle, type Stored } from 'flowfabric'
export { connect as connectServer } from 'flowfabric/client'
export { openTelemetry } from 'flowfabric/opentelemetry'
export { testEngine } from 'flowfabric/testing'
export { connect as connectWorker } from 'flowfabric/worker'

const greet = task('greet', async (ctx, { name }: { name: string }) => {
  const at: string = await ctx.step('at', () => new Date())
  return { at, hello: \`hello \${name}\` }
})
export async function main(): Promise<void> {
  const ff = await connect('memory:')
  const run: Handle<{ at: string; hello: string }> = await ff.submit(greet, { name: 'ada' })
  for await (const event of run.events()) console.log(event)
}
export type Helper<T> = (ctx: Context) => Stored<T>
`
// The types of hono, which the server uses, need a newer compiler than 5.4.
const server = "export { createApp, serve } from 'flowfabric/server'\n"
const common = { target: 'ES2022', strict: true, noEmit: true, skipLibCheck: false, types: ['node'] }

test.each([
  ['typescript-5.4', 'NodeNext', 'NodeNext', program],
  ['typescript-5.4', 'ESNext', 'Bundler', program],
  ['typescript', 'NodeNext', 'NodeNext', program + server],
  ['typescript', 'ESNext', 'Bundler', program + server],
])('%s, module %s, resolution %s: the types compile', async (compiler, module, moduleResolution, text) => {
  const folder = await folderWithPackage()
  const files = { 'app.mts': text }
  const compilerOptions = { ...common, module, moduleResolution }
  expect(await compileIn(folder, { files, compilerOptions, compiler })).toEqual([])
})

test('CommonJS loads the package by require, and its types compile', async () => {
  const folder = await folderWithPackage()
  const compilerOptions = { ...common, module: 'NodeNext', moduleResolution: 'NodeNext' }
  expect(await compileIn(folder, { files: { 'app.cts': program + server }, compilerOptions })).toEqual([])
  const script = "console.log(Object.keys(require('flowfabric').task('a', () => 1)).includes('name'))"
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: folder })
  expect(stdout).toBe('true\n')
})
