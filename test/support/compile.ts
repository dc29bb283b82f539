// Runs a TypeScript compiler over files in a folder of their own, and returns its diagnostics.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { makeFolder } from './temporary-folder.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Project {
  /** The files by path in the folder. */
  readonly files: Readonly<Record<string, string>>
  readonly compilerOptions: Readonly<Record<string, unknown>>
  /** A package in node_modules; defaults to the newest TypeScript. */
  readonly compiler?: string
}

/** This repository's sources, strict, as they are checked here. */
export const ownSources = {
  target: 'ES2023',
  module: 'NodeNext',
  lib: ['ES2023'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
  paths: { flowfabric: [join(root, 'src/index.ts')] },
} as const

/** The first line of each diagnostic: `a.ts(6,29): error TS2345: ...`. */
export async function compile(project: Project): Promise<string[]> {
  const folder = await makeFolder('flowfabric-types-', { inMemory: true })
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return compileIn(folder, project)
}

export async function compileIn(folder: string, project: Project): Promise<string[]> {
  const { files, compilerOptions, compiler = 'typescript' } = project
  const include = Object.keys(files)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const printed = await run(join(root, 'node_modules', compiler, 'bin/tsc'), folder)
  return printed.split('\n').filter((line) => line !== '' && !line.startsWith(' '))
}

function run(script: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, '--pretty', 'false'], { cwd, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      // Exit codes 1 and 2: the compiler reported errors.
      if (error === null || error.code === 1 || error.code === 2) resolve(stdout + stderr)
      else reject(error)
    })
  })
}
