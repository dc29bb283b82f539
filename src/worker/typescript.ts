// Loads files in TypeScript: by tsx where the project has it, else by Node itself, if it can.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EngineError } from '../model/errors.ts'

/** Afterwards the file can be imported in this thread. `shown` is the name of the file in an error. */
export async function enableTypeScript(file: string, shown: string = file): Promise<void> {
  if (!/^\.[cm]?tsx?$/.test(extname(file))) return
  try {
    const tsx = (await import(typeScriptLoader(file))) as { register(): void }
    tsx.register()
  } catch (cause) {
    const { typescript = false } = process.features as { typescript?: string | false }
    if (typescript !== false) return
    const sentence = `${shown} is TypeScript, which Node ${process.versions.node} does not read; run npm install -D tsx, or use Node 22.18 or newer`
    throw new EngineError('unsupported', sentence, { path: shown }, { cause })
  }
}

/** The module of tsx that exports `register`, resolved from the file. */
export function typeScriptLoader(from: string): string {
  const manifest = createRequire(from).resolve('tsx/package.json')
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8'))
  return pathToFileURL(join(dirname(manifest), exports['./esm/api'].import.default)).href
}
