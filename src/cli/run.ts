// One command line, from its words to its exit code: 0 it is done, 1 it failed or found trouble, 2 it was used wrongly.
import { CommanderError } from 'commander'
import { Cli } from './cli.ts'
import { tellFailure, wrongUsage } from './failure.ts'
import { makeProgram } from './program.ts'
import type { CliProcess } from './cli-process.ts'

export async function run(argv: readonly string[], surroundings: CliProcess): Promise<number> {
  const cli = new Cli(surroundings)
  const wanted = { json: argv.includes('--json'), debug: argv.includes('--debug') }
  try {
    await makeProgram(cli, wanted.json).parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    // It has said what is wrong itself.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongUsage
    return tellFailure(error, cli.err, wanted)
  }
}
