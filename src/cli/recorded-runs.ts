// Reads recorded runs from files: one run, a list of runs, or a run on each line.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EngineError } from '../model/errors.ts'
import { checkRecordedRun, type RecordedRun } from '../worker/recorded-run.ts'

export interface RunInFile {
  readonly file: string
  readonly run: RecordedRun
}

/** From files, and from the .json files in directories and below them. */
export async function recordedRunsIn(paths: readonly string[]): Promise<readonly RunInFile[]> {
  const runs: RunInFile[] = []
  for (const path of paths) {
    for (const file of await filesIn(path)) runs.push(...(await runsIn(file)))
  }
  if (runs.length > 0) return runs
  const sentence = `${paths.join(', ')} has no recorded run; write some with flowfabric export`
  throw new EngineError('invalid_input', sentence, { paths })
}

async function filesIn(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: Error) => refuse(path, error.message))
  if (!found.isDirectory()) return [path]
  const names = await readdir(path, { recursive: true })
  return names
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => join(path, name))
}

async function runsIn(file: string): Promise<RunInFile[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => refuse(file, error.message))
  try {
    return valuesIn(text).map((value) => ({ file, run: checkRecordedRun(value) }))
  } catch (error) {
    return refuse(file, (error as Error).message)
  }
}

function valuesIn(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length < 2) throw error
    return lines.map((line) => JSON.parse(line) as unknown)
  }
}

function refuse(path: string, why: string): never {
  const sentence = `${path} cannot be read: ${why}; name files or directories that flowfabric export wrote`
  throw new EngineError('invalid_input', sentence, { path })
}
