// Commands from files and documents: each is run up to the point where it would open a database.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { typed } from '../cli/typed.ts'

export function read(path: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
}

/** Null when the CLI knows every word of the command and would continue; otherwise its error. */
export async function refusalOf(argv: readonly string[]): Promise<string | null> {
  let hasGoneOn = false
  const connect = async (): Promise<never> => {
    hasGoneOn = true
    throw new Error('far enough')
  }
  const { code, err } = await typed(argv, { connect }, { stdin: '{fp:1}:0190b6d2-0000-7000-8000-000000000000\n' })
  return hasGoneOn || code === 0 ? null : err
}

/** Words as a shell would split them, without pipes, redirections and comments. */
export function words(line: string): string[] {
  const [command = ''] = line.split(/ [|>] | +#/)
  const found = command.match(/'[^']*'|"[^"]*"|\S+/g) ?? []
  return found.map((word) => word.replaceAll(/^['"]|['"]$/g, ''))
}
