import type { Command } from 'commander'
import type { ExecutionId } from '../../model/id.ts'
import type { Duration } from '../../model/duration.ts'
import type { Cli } from '../cli.ts'
import { eachOf } from '../each-of.ts'
import { examples } from '../examples.ts'
import { relative } from '../time.ts'

interface CancelOptions {
  readonly reason?: string
  readonly grace?: Duration
  readonly deadline?: Duration
  readonly force?: boolean
}

export function addCancel(program: Command, cli: Cli): void {
  const command = program
    .command('cancel')
    .description('cancel executions, running or not')
    .argument('<id...>', 'execution ids or prefixes; - reads them from stdin')
    .option('--reason <text>', 'reason to record')
    .option('--grace <duration>', 'ask a running execution to stop first, and give it this long')
    .option('--deadline <duration>', 'time for compensations to run (default: 10 minutes)')
    .option('--force', 'end at once, without running compensations')
    .addHelpText('after', examples("cancel 0190b6d2-4f1c --reason 'Ada called' --grace 30s"))
  cli.does(command, ({ reason, grace, deadline, force }: CancelOptions, ids: string[]) =>
    cli.connected(({ engine }) =>
      eachOf(cli, engine, ids, {
        doing: 'cancelling',
        act: (some) =>
          engine.executions.cancelMany(
            some.map((executionId) => ({
              executionId: executionId as ExecutionId,
              ...(reason !== undefined && { reason }),
              ...(grace !== undefined && { grace }),
              ...(deadline !== undefined && { deadline }),
              ...(force === true && { force }),
            })),
          ),
        say: (answer) => {
          if (answer.kind === 'already_cancelled') return 'was already cancelled'
          if (answer.kind === 'cancel_requested') {
            return `was asked to stop; it ends ${relative(answer.deadlineAt, Date.now())} at the latest`
          }
          return `cancelled, was ${answer.from}`
        },
      }),
    ),
  )
}
