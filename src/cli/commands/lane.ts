import type { Command } from 'commander'
import type { StateCount } from '../../engine/execution/count.ts'
import type { Lane } from '../../engine/lane/list.ts'
import type { LaneMeasure } from '../../engine/lane/measure.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import type { Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { span, timeCell } from '../time.ts'

/** A lane and its counts. Null beyond the lanes that the engine measures. */
interface MeasuredLane extends Lane {
  readonly measure: LaneMeasure | null
}

export function addLane(program: Command, cli: Cli): void {
  const lane = program.command('lane').description('inspect lanes')
  const command = pageOptions(
    lane.command('list').description('list lanes by namespace and name, with the executions in them'),
  ).addHelpText('after', examples('lane list', 'lane list --namespace shop --json'))
  cli.does(command, (options: PageOptions) =>
    cli.connected(async ({ engine }) => {
      const { now, lanes: measures } = await engine.lanes.measure()
      const byName = new Map(measures.map((measure) => [nameOf(measure), measure]))
      await showPage<MeasuredLane>(cli, options, {
        noun: 'lanes',
        columns: columns(timeCell(cli.out, now), now),
        none: 'No lanes yet. The first execution of a lane creates it.',
        asJson: ({ measure, ...found }) => ({ ...found, ...measure }),
        read: async (page) => {
          const { lanes, nextCursor } = await engine.lanes.list(page)
          return { rows: lanes.map((row) => ({ ...row, measure: byName.get(nameOf(row)) ?? null })), nextCursor }
        },
      })
    }),
  )
}

function nameOf({ namespace, lane }: { readonly namespace: string; readonly lane: string }): string {
  return JSON.stringify([namespace, lane])
}

function columns(time: (at: number | null) => string, now: number): Column<MeasuredLane>[] {
  const depth = (title: string, of: (measure: LaneMeasure) => StateCount): Column<MeasuredLane> => ({
    title,
    of: ({ measure }) => (measure === null ? '?' : countText(of(measure))),
    align: 'right',
  })
  return [
    { title: 'LANE', of: (row) => row.lane },
    { title: 'NAMESPACE', of: (row) => row.namespace },
    { title: 'STATE', of: (row) => row.state },
    depth('WAITING', (measure) => measure.ready),
    depth('ACTIVE', (measure) => measure.active),
    depth('DELAYED', (measure) => measure.delayed),
    depth('SUSPENDED', (measure) => measure.suspended),
    { title: 'OLDEST', of: ({ measure }) => ageOf(measure?.oldestReadyAt ?? null, now), align: 'right' },
    { title: 'FIRST USED', of: (row) => time(row.registeredAt), align: 'right', gives: true },
    { title: 'BY', of: (row) => row.registeredBy, gives: true },
  ]
}

/** Counts stop early, so that a deep lane costs no more than others. */
function countText({ count, orMore }: StateCount): string {
  return orMore ? `${count}+` : String(count)
}

/** How long the oldest waiting execution has existed. */
function ageOf(oldestReadyAt: number | null, now: number): string {
  return oldestReadyAt === null ? '' : span(Math.max(0, now - oldestReadyAt))
}
