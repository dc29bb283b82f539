// Runs one command line. Exit codes: 0 success, 1 failure or problems found, 2 wrong usage.
import { CommanderError } from 'commander'
import { Cli } from './cli.ts'
import { printFailure, wrongUsage } from './failure.ts'
import { makeProgram } from './program.ts'
import type { CliProcess } from './cli-process.ts'

export async function run(argv: readonly string[], host: CliProcess): Promise<number> {
  const cli = new Cli(host)
  const wanted = { json: argv.includes('--json'), debug: argv.includes('--debug') }
  try {
    await makeProgram(cli, wanted.json).parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    // Commander has printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongUsage
    return printFailure(error, cli.err, wanted)
  }
}
