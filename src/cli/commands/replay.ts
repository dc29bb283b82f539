import type { Command } from 'commander'
import type { ExecutionId } from '../../model/id.ts'
import type { Cli } from '../cli.ts'
import { eachOf } from '../each-of.ts'
import { examples } from '../examples.ts'

interface ReplayOptions {
  readonly from?: string
  readonly reason?: string
}

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command('replay')
    .description('run ended executions again, from the start or from a step')
    .argument('<id...>', 'execution ids or prefixes; - reads them from stdin')
    .option('--from <step>', 'keep the results of the steps before this one')
    .option('--reason <text>', 'reason to record')
    .addHelpText(
      'after',
      examples("replay 0190b6d2-4f1c --from 'charge card'", 'list --state failed --all | flowfabric replay -'),
    )
  cli.does(command, ({ from, reason }: ReplayOptions, ids: string[]) =>
    cli.connected(({ engine }) =>
      eachOf(cli, engine, ids, {
        doing: 'replaying',
        act: (some) =>
          engine.executions.replayMany(
            some.map((executionId) => ({
              executionId: executionId as ExecutionId,
              ...(from !== undefined && { from }),
              ...(reason !== undefined && { reason }),
            })),
          ),
        say: ({ generation, from: before, deadlineDropped, reopened = [] }) =>
          [
            `replayed as generation ${generation}, was ${before}`,
            ...(deadlineDropped ? ['its deadline had passed and was removed'] : []),
            ...(reopened.length > 0 ? [`${reopened.length} executions that it had skipped wait again`] : []),
          ].join('; '),
      }),
    ),
  )
}
