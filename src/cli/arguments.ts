// Parses arguments and options.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { CliProcess } from './cli-process.ts'

export function wholeNumber(typed: string): number {
  if (/^-?\d{1,15}$/.test(typed)) return Number(typed)
  throw new InvalidArgumentError('It must be a whole number.')
}

/** The port to listen on; 0 picks a free one. */
export function port(typed: string): number {
  if (/^\d{1,5}$/.test(typed) && Number(typed) < 65_536) return Number(typed)
  throw new InvalidArgumentError('It must be a port, from 0 to 65535.')
}

/** For an option that may be repeated: `--tag team=search --tag env=live`. */
export function tag(typed: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = typed.indexOf('=')
  if (at > 0) return { ...before, [typed.slice(0, at)]: typed.slice(at + 1) }
  throw new InvalidArgumentError('It must be key=value.')
}

export function list(typed: string, before: readonly string[] = []): string[] {
  return [...before, typed]
}

/** A comma-separated list, in an option that may be repeated: `--hosts a.example,b.example`. */
export function commaList(typed: string, before: readonly string[] = []): string[] {
  const names = typed.split(',').map((name) => name.trim())
  if (names.every((name) => name !== '')) return [...before, ...names]
  throw new InvalidArgumentError('It must be one or more, separated by commas.')
}

/** A calendar time, as milliseconds. */
export function pointInTime(typed: string): number {
  const at = Date.parse(typed)
  if (Number.isFinite(at)) return at
  throw new InvalidArgumentError('It must be a date, such as 2026-12-31T18:00:00Z.')
}

/** JSON as typed, `-` for standard input, `@file` for a file; undefined when left out. */
export async function jsonValue(what: string, typed: string | undefined, { stdin }: CliProcess): Promise<unknown> {
  if (typed === undefined) return undefined
  const [source, content] = await read(typed, stdin)
  try {
    return JSON.parse(content)
  } catch (cause) {
    const found = content.trim() === '' ? 'empty' : show(content.trim())
    const sentence = `${what}${source} is ${found}; it must be JSON, quoted for the shell: '{"to":"ada"}', '"text"', 42`
    throw new EngineError('invalid_input', sentence, { field: what }, { cause })
  }
}

async function read(typed: string, stdin: CliProcess['stdin']): Promise<[source: string, content: string]> {
  if (typed === '-') return [' from standard input', await text(stdin ?? emptyInput())]
  if (!typed.startsWith('@')) return ['', typed]
  const path = typed.slice(1)
  try {
    return [` in ${path}`, await readFile(path, 'utf8')]
  } catch (cause) {
    const sentence = `${path} cannot be read: ${(cause as Error).message}; put the path of a readable file behind the @`
    throw new EngineError('invalid_input', sentence, { path }, { cause })
  }
}

/** Ids as typed; `-` reads the first word of each line of standard input. */
export async function idsOf(typed: readonly string[], { stdin }: CliProcess): Promise<string[]> {
  const ids: string[] = []
  for (const each of typed) {
    if (each !== '-') ids.push(each)
    else ids.push(...firstFields(await text(stdin ?? emptyInput())))
  }
  if (ids.length > 0) return [...new Set(ids)]
  throw refusal('invalid_input', 'standard input', 'empty', 'one id a line')
}

function firstFields(content: string): string[] {
  return content
    .split('\n')
    .map((line) => line.trim().split(/\s+/)[0]!)
    .filter((field) => field !== '')
}

async function* emptyInput(): AsyncGenerator<string> {}
