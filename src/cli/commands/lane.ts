import type { Command } from 'commander'
import type { Lane } from '../../engine/lane/list.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import type { Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { timeCell } from '../time.ts'

export function addLane(program: Command, cli: Cli): void {
  const lane = program.command('lane').description('lanes that have been used')
  const command = pageOptions(lane.command('list').description('lanes, by namespace and name')).addHelpText(
    'after',
    examples('lane list'),
  )
  cli.does(command, (options: PageOptions) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      await showPage<Lane>(cli, options, {
        noun: 'lanes',
        columns: columns(timeCell(cli.out, now)),
        none: 'No lane has been used yet.',
        read: async (page) => {
          const { lanes, nextCursor } = await engine.lanes.list(page)
          return { rows: lanes, nextCursor }
        },
      })
    }),
  )
}

function columns(time: (at: number | null) => string): Column<Lane>[] {
  return [
    { title: 'LANE', of: (row) => row.lane },
    { title: 'NAMESPACE', of: (row) => row.namespace },
    { title: 'STATE', of: (row) => row.state },
    {
      title: 'FIRST USED',
      of: (row) => time(row.registeredAt),
      align: 'right',
    },
    { title: 'BY', of: (row) => row.registeredBy, gives: true },
  ]
}
