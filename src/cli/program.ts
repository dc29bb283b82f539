// The commands of the program.
import { Command } from 'commander'
import { codeVersion } from '../model/version.ts'
import { defaultUrl, type Cli } from './cli.ts'
import { addApiKey } from './commands/api-key.ts'
import { addApprove } from './commands/approve.ts'
import { addCancel } from './commands/cancel.ts'
import { addCompletion } from './commands/completion.ts'
import { addDev } from './commands/dev.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExport } from './commands/export.ts'
import { addFlow } from './commands/flow.ts'
import { addInit } from './commands/init.ts'
import { addLane } from './commands/lane.ts'
import { addList } from './commands/list.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOpenApi } from './commands/openapi.ts'
import { addReplay } from './commands/replay.ts'
import { addResume } from './commands/resume.ts'
import { addSchedule } from './commands/schedule.ts'
import { addServe } from './commands/serve.ts'
import { addShow } from './commands/show.ts'
import { addSignal } from './commands/signal.ts'
import { addSigningKey } from './commands/signing-key.ts'
import { addSubmit } from './commands/submit.ts'
import { addVerify } from './commands/verify.ts'
import { addWatch } from './commands/watch.ts'
import { addWorker } from './commands/worker.ts'
import { environmentVariables } from './environment.ts'
import { withSynonym } from './synonyms.ts'

export function makeProgram(cli: Cli, isJson: boolean): Command {
  const usageError = (text: string): string => (isJson ? usageAsJson(text) : asSentences(cli, text))
  const program = new Command('flowfabric')
    .description('Durable execution, in Postgres or in a folder.')
    .version(codeVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => command.name(),
      styleTitle: (text) => cli.out.colours.bold(text),
      styleCommandText: (text) => cli.out.colours.cyan(text),
      styleSubcommandText: (text) => cli.out.colours.cyan(text),
    })
    .configureOutput({
      writeOut: (text) => cli.out.write(text),
      writeErr: (text) => cli.err.write(text),
      outputError: (text, write) => write(usageError(text)),
      getOutHelpWidth: () => Math.min(cli.out.width, 100),
      getErrHelpWidth: () => Math.min(cli.err.width, 100),
    })
    .exitOverride()
  addGlobals(program)
  program.commandsGroup('Start:')
  addDev(program, cli)
  addInit(program, cli)
  addServe(program, cli)
  program.commandsGroup('Work:')
  addSubmit(program, cli)
  addList(program, cli)
  addShow(program, cli)
  addWatch(program, cli)
  addCancel(program, cli)
  addReplay(program, cli)
  addResume(program, cli)
  addSignal(program, cli)
  addApprove(program, cli)
  program.commandsGroup('Check changed code:')
  addExport(program, cli)
  addVerify(program, cli)
  program.commandsGroup('Inspect:')
  addFlow(program, cli)
  addSchedule(program, cli)
  addWorker(program, cli)
  addLane(program, cli)
  program.commandsGroup('Maintain:')
  addMigrate(program, cli)
  addDoctor(program, cli)
  addApiKey(program, cli)
  addSigningKey(program, cli)
  addOpenApi(program, cli)
  addCompletion(program, cli)
  for (const command of [program, ...program.commands.filter((each) => each.commands.length > 0)]) {
    command.addHelpCommand(new Command('help').argument('[command]').description('show help for a command'))
  }
  // For the top level only: `schedule create` does not mean `submit`.
  program.configureOutput({ outputError: (text, write) => write(usageError(withSynonym(text))) })
  program.addHelpText('after', afterHelp)
  return program
}

function addGlobals(program: Command): void {
  program
    .optionsGroup('Global options:')
    .option(
      '--url <url>',
      `postgres://..., file:./directory, or https://... with an API key in FLOWFABRIC_TOKEN (default: FLOWFABRIC_URL, else ${defaultUrl})`,
    )
    .option('--schema <name>', 'database schema of the tables (default: flowfabric)')
    .option('--namespace <name>', 'act in this namespace only')
    .option('--actor <name>', 'name to record in the event log (default: cli:<user>)')
    .option('--json', 'print JSON: one document, or one line per item of a stream')
    .option('--debug', 'print the stack trace of an error')
    .optionsGroup('Options:')
}

const nameWidth = Math.max(...Object.keys(environmentVariables).map((name) => name.length))
const variables = Object.entries(environmentVariables).map(([name, what]) => `  ${name.padEnd(nameWidth)}  ${what}`)

const afterHelp = `
Environment:
${variables.join('\n')}

Get started:
  $ flowfabric dev
  $ flowfabric submit send-welcome '{"to":"ada@example.com"}'
  $ flowfabric list

Exit codes: 0 success, 1 failure or a problem found, 2 wrong usage.`

function asSentences({ err }: Cli, text: string): string {
  const lines = err.wrapped(text.trimEnd())
  return `${lines.join('\n').replace(/^error:/, err.colours.red('error:'))}\n`
}

function usageAsJson(text: string): string {
  const message = text
    .replace(/^error:\s*/, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
  return `${JSON.stringify({ error: { code: 'invalid_input', message, retryable: false } })}\n`
}
