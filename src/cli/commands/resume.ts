import type { Command } from 'commander'
import type { Duration } from '../../model/duration.ts'
import type { ExecutionId } from '../../model/id.ts'
import type { Cli } from '../cli.ts'
import { eachOf } from '../each-of.ts'
import { examples } from '../examples.ts'
import { instant } from '../time.ts'

interface ResumeOptions {
  readonly delay?: Duration
  readonly reason?: string
}

export function addResume(program: Command, cli: Cli): void {
  const command = program
    .command('resume')
    .description('resume suspended executions, whatever they wait for')
    .argument('<id...>', 'execution ids or prefixes; - reads them from stdin')
    .option('--delay <duration>', 'resume after this long')
    .option('--reason <text>', 'reason to record')
    .addHelpText('after', examples("resume 0190b6d2-4f1c --reason 'the supplier called back'"))
  cli.does(command, ({ delay, reason }: ResumeOptions, ids: string[]) =>
    cli.connected(({ engine }) =>
      eachOf(cli, engine, ids, {
        doing: 'resuming',
        act: (some) =>
          engine.executions.resumeMany(
            some.map((executionId) => ({
              executionId: executionId as ExecutionId,
              ...(delay !== undefined && { delay }),
              ...(reason !== undefined && { reason }),
            })),
          ),
        say: ({ delayUntil }) => (delayUntil === null ? 'resumed' : `resumed, not before ${instant(delayUntil)}`),
      }),
    ),
  )
}
