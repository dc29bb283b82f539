import { Option, type Command } from 'commander'
import type { ListRequest } from '../../engine/execution/list.ts'
import type { Execution } from '../../engine/execution/snapshot.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import { tag } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { bare, bareIds, executionOf } from '../ids.ts'
import { stateColour, type Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { timeCell } from '../time.ts'
import { refusal } from '../../model/errors.ts'

interface ListOptions extends PageOptions {
  readonly state?: PublicState
  readonly kind?: string
  readonly lane?: string
  readonly tag?: Readonly<Record<string, string>>
  readonly parent?: string
  readonly partition?: string
  readonly id?: string
}

export function addList(program: Command, cli: Cli): void {
  const command = program
    .command('list')
    .description('list executions, newest first; with --state, in the order in which they are processed')
    .addOption(new Option('--state <state>', 'only this state').choices(publicStates))
    .option('--kind <kind>', 'only this kind (the name of the task)')
    .option('--lane <lane>', 'only this lane')
    .option('--tag <key=value>', 'only with this tag', tag)
    .option('--parent <id>', 'only children of this execution')
    .option('--partition <n>', 'only this partition, in the order of ids')
    .option('--id <prefix>', 'only ids that begin so, in the order of ids')
  pageOptions(command).addHelpText(
    'after',
    examples(
      'list --state failed --kind send-welcome',
      'list --tag customer=ada --json',
      'list --state failed --all | flowfabric replay -',
    ),
  )
  cli.does(command, (options: ListOptions) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      const { parent } = options
      const ofParent = parent === undefined ? {} : { parentId: await executionOf(engine, parent) }
      const request = { ...requestOf(options), ...ofParent }
      await showPage<Execution>(cli, options, {
        noun: 'executions',
        columns: columns(timeCell(cli.out, now)),
        none: 'No executions match.',
        read: async (page) => {
          const { executions, nextCursor } = await engine.executions.list({ ...request, ...page })
          return { rows: executions, nextCursor }
        },
      })
    }),
  )
}

function requestOf({ state, kind, lane, tag: tags = {}, partition, id }: ListOptions): ListRequest {
  const [first, second] = Object.entries(tags)
  if (second !== undefined) throw refusal('invalid_input', '--tag', 'given twice', 'given once')
  return {
    ...(state !== undefined && { state }),
    ...(kind !== undefined && { kind }),
    ...(lane !== undefined && { lane }),
    ...(first !== undefined && { tag: { key: first[0], value: first[1] } }),
    ...(id !== undefined && { idPrefix: id }),
    ...(partition !== undefined && { partition: /^\d+$/.test(partition) ? Number(partition) : partition }),
  }
}

function columns(time: (at: number | null) => string): Column<Execution>[] {
  return [
    { title: 'ID', of: (row) => bare(row.executionId) },
    {
      title: 'STATE',
      of: (row) => row.publicState,
      paint: (row, colours) => stateColour(row.publicState, colours),
    },
    { title: 'KIND', of: (row) => row.kind, gives: true },
    { title: 'LANE', of: (row) => row.lane, gives: true },
    {
      title: 'CREATED',
      of: (row) => time(row.createdAt),
      align: 'right',
      gives: true,
    },
    { title: 'WHY', of: whyOf, gives: true },
  ]
}

function whyOf(row: Execution): string {
  const { progress, failureReason, cancellationReason, blockingDetail } = row
  if (row.publicState === 'active') {
    const percent = progress?.percent === null || progress === null ? '' : `${progress.percent} %`
    return [percent, progress?.message ?? ''].filter((part) => part !== '').join(' ')
  }
  return bareIds(failureReason ?? cancellationReason ?? blockingDetail ?? '')
}
