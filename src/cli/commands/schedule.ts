import { Option, type Command } from 'commander'
import type { Schedule } from '../../engine/schedule/schedule.ts'
import type { ScheduleOptions } from '../../connect/schedules.ts'
import type { Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { CatchUp, Overlap } from '../../model/schedule.ts'
import { jsonValue, pointInTime, tag, wholeNumber } from '../arguments.ts'
import type { Cli, CliConnection, CommandOutcome } from '../cli.ts'
import { examples } from '../examples.ts'
import { bare } from '../ids.ts'
import type { Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { instant, span, timeCell } from '../time.ts'

export function addSchedule(program: Command, cli: Cli): void {
  const schedule = program.command('schedule').description('manage schedules, which submit executions at set times')
  addList(schedule, cli)
  addShow(schedule, cli)
  addPut(schedule, cli)
  addOne(schedule, cli, 'pause', 'stop firing until the schedule is resumed', async ({ engine }, named) => {
    const { kind } = await engine.schedules.pause(named)
    return [{ kind, ...named }, kind === 'paused' ? 'paused' : 'was already paused']
  })
  addOne(schedule, cli, 'resume', 'fire again after a pause', async ({ engine }, named) => {
    const answer = await engine.schedules.resume(named)
    const next = answer.nextFireAt === null ? 'it will not fire again' : `next at ${instant(answer.nextFireAt)}`
    return [answer, answer.kind === 'resumed' ? `resumed; ${next}` : `was not paused; ${next}`]
  })
  addOne(schedule, cli, 'trigger', 'fire now, paused or not', async ({ engine }, named) => {
    const answer = await engine.schedules.trigger(named)
    if (answer.kind === 'fired') return [answer, `fired: ${bare(answer.executionId)}`]
    if (answer.kind === 'queued') return [answer, 'queued: fires when the earlier executions have ended']
    return [answer, `skipped: ${bare(answer.executionId)} has not ended`]
  })
  addOne(schedule, cli, 'delete', 'delete a schedule; its executions stay', async ({ engine }, named) => {
    const answer = await engine.schedules.delete(named)
    if (answer.kind === 'deleted') return [answer, 'deleted']
    throw new EngineError('schedule_not_found', `schedule '${named.scheduleId}' does not exist`, named)
  })
}

type Act = (
  connected: CliConnection,
  named: { readonly scheduleId: string },
) => Promise<readonly [answer: object, sentence: string]>

function addOne(schedule: Command, cli: Cli, verb: string, description: string, act: Act): void {
  const command = schedule
    .command(verb)
    .description(description)
    .argument('<name>', 'name of the schedule')
    .addHelpText('after', examples(`schedule ${verb} nightly`))
  cli.does(command, (_: object, scheduleId: string) =>
    cli.connected(async (connected) => {
      const [answer, sentence] = await act(connected, { scheduleId })
      if (cli.json) cli.out.json(answer)
      else cli.out.line(`${scheduleId} ${sentence}`)
    }),
  )
}

function addList(schedule: Command, cli: Cli): void {
  const command = pageOptions(schedule.command('list').description('list schedules by namespace and name'))
  cli.does(command, (options: PageOptions) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      await showPage<Schedule>(cli, options, {
        noun: 'schedules',
        columns: columns(timeCell(cli.out, now)),
        none: 'No schedules.',
        read: async (page) => {
          const { schedules, nextCursor } = await engine.schedules.list(page)
          return { rows: schedules, nextCursor }
        },
      })
    }),
  )
}

function columns(time: (at: number | null) => string): Column<Schedule>[] {
  return [
    { title: 'NAME', of: (row) => row.scheduleId },
    { title: 'NAMESPACE', of: (row) => row.namespace },
    { title: 'STATE', of: (row) => row.state, paint: (row, c) => (row.state === 'active' ? c.green : c.gray) },
    { title: 'WHEN', of: whenOf },
    { title: 'KIND', of: (row) => row.kind, gives: true },
    { title: 'NEXT', of: (row) => time(row.nextFireAt), align: 'right' },
    { title: 'LAST', of: (row) => time(row.lastFiredAt), align: 'right' },
  ]
}

function whenOf({ cron, timeZone, everyMs }: Schedule): string {
  if (cron === null) return `every ${span(everyMs ?? 0)}`
  return timeZone === null || timeZone === 'UTC' ? cron : `${cron} (${timeZone})`
}

function addShow(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('show')
    .description('show a schedule and its input')
    .argument('<name>', 'name of the schedule')
    .addHelpText('after', examples('schedule show nightly'))
  cli.does(command, (_: object, scheduleId: string) =>
    cli.connected(async ({ engine }) => {
      const { withValues } = await import('../value.ts')
      const found = await engine.schedules.describe({ scheduleId })
      if (found === null) {
        throw new EngineError('schedule_not_found', `schedule '${scheduleId}' does not exist`, { scheduleId })
      }
      const { payload, ...shown } = withValues(found)
      const asked = { ...shown, input: payload }
      if (cli.json) return cli.out.json(asked)
      cli.out.facts([
        ['name', found.scheduleId],
        ['namespace', found.namespace],
        ['state', found.state],
        ['when', whenOf(found)],
        ['next', timeOf(found.nextFireAt)],
        ['last', timeOf(found.lastFiredAt)],
        ['last execution', found.lastExecutionId === null ? null : bare(found.lastExecutionId)],
        ['fired', String(found.firedCount)],
        ['skipped', String(found.skippedCount)],
        ['waiting', found.queued.length === 0 ? null : String(found.queued.length)],
        ['overlap', found.overlap],
        ['catch up', found.catchUp],
        ['jitter', found.jitterMs === 0 ? null : span(found.jitterMs)],
        ['until', timeOf(found.until)],
        ['kind', found.kind],
        ['lane', found.lane],
        ['priority', String(found.priority)],
        ['input', payload === null ? null : JSON.stringify(payload)],
      ])
    }),
  )
}

function timeOf(at: number | null): string | null {
  return at === null ? null : instant(at)
}

// Repeated here: the module that defines them loads a library that no other command needs.
const overlaps = ['skip', 'queue', 'cancelPrevious', 'allow'] as const satisfies readonly Overlap[]
const catchUps = ['none', 'last', 'all'] as const satisfies readonly CatchUp[]

interface PutOptions {
  readonly cron?: string
  readonly timeZone?: string
  readonly every?: Duration
  readonly overlap?: Overlap
  readonly catchUp?: CatchUp
  readonly jitter?: Duration
  readonly until?: number
  readonly lane?: string
  readonly priority?: number
  readonly deadline?: Duration
  readonly tag?: Readonly<Record<string, string>>
}

function addPut(schedule: Command, cli: Cli): void {
  const command = schedule
    .command('put')
    .description('create or update a schedule (safe to repeat)')
    .argument('<name>', 'name of the schedule')
    .argument('<kind>', 'task to submit')
    .argument('[input]', 'JSON; - reads stdin, @file a file')
    .option('--cron <pattern>', 'cron pattern: five fields, six with seconds, or a name such as @daily')
    .option('--time-zone <zone>', 'time zone of the pattern (default: UTC)')
    .option('--every <duration>', 'interval, instead of a pattern')
    .addOption(
      new Option('--overlap <how>', 'what to do while the last execution has not ended (default: skip)').choices(
        overlaps,
      ),
    )
    .addOption(
      new Option('--catch-up <how>', 'which firings to make up for after downtime (default: last)').choices(catchUps),
    )
    .option('--jitter <duration>', 'delay each firing by a random time up to this')
    .option('--until <time>', 'do not fire after this time', pointInTime)
    .option('--lane <lane>', 'lane of its executions (default: the lane of their task, else default)')
    .option('--priority <n>', '0 to 9000, highest first', wholeNumber)
    .option('--deadline <duration>', 'each execution expires after this long')
    .option('--tag <key=value>', 'tag of its executions; repeatable', tag)
    .addHelpText(
      'after',
      examples(
        "schedule put nightly report --cron '30 2 * * *' --time-zone Europe/Berlin",
        `schedule put pulse ping '{"to":"eu"}' --every 30s`,
      ),
    )
  cli.does(command, async (options: PutOptions, name: string, kind: string, input?: string): CommandOutcome => {
    const value = await jsonValue('the input', input, cli.host)
    const { tag: tags, ...rest } = options
    const asked: ScheduleOptions = { kind, ...rest, ...(tags !== undefined && { tags }) }
    await cli.connected(async ({ ff }) => {
      const { userSchedules } = await import('../../connect/schedules.ts')
      const { jsonCodec } = await import('../../model/codec.ts')
      const schedules = userSchedules(cli.bind(ff).schedules, jsonCodec)
      const answer = await schedules.put(name, value === undefined ? asked : { ...asked, input: value })
      if (cli.json) return cli.out.json(answer)
      const next = answer.nextFireAt === null ? 'it will not fire' : `next at ${instant(answer.nextFireAt)}`
      cli.out.line(`${name} ${answer.kind}; ${next}`)
    })
  })
}
