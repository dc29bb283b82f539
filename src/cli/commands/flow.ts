import { Option, type Command } from 'commander'
import type { Engine } from '../../engine/contract.ts'
import type { CancelPolicy } from '../../engine/flow/cancel.ts'
import type { FlowGraph } from '../../engine/flow/graph.ts'
import type { Flow, FlowState } from '../../engine/flow/snapshot.ts'
import type { Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { FlowId } from '../../model/id.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { bare, bareIds, flowOf } from '../ids.ts'
import { flowColour } from '../flow-colour.ts'
import type { Column } from '../print.ts'
import { showFlow } from '../show-flow.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { timeCell } from '../time.ts'

export function addFlow(program: Command, cli: Cli): void {
  const flow = program.command('flow').description('inspect and cancel flows: executions that depend on each other')
  addList(flow, cli)
  addShow(flow, cli)
  addCancel(flow, cli)
}

const flowStates = ['open', 'running', 'completed', 'failed', 'cancelled'] as const satisfies readonly FlowState[]
const policies = ['cancel_all', 'cancel_pending', 'flow_only'] as const satisfies readonly CancelPolicy[]

function addList(flow: Command, cli: Cli): void {
  const command = flow
    .command('list')
    .description('list flows, newest first')
    .addOption(new Option('--state <state>', 'only this state').choices(flowStates))
  pageOptions(command).addHelpText('after', examples('flow list --state running'))
  cli.does(command, (options: PageOptions & { state?: FlowState }) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      const { state } = options
      await showPage<Flow>(cli, options, {
        noun: 'flows',
        columns: columns(timeCell(cli.out, now)),
        none: 'No flows match.',
        read: async (page) => {
          const { flows, nextCursor } = await engine.flows.list({ ...page, ...(state !== undefined && { state }) })
          return { rows: flows, nextCursor }
        },
      })
    }),
  )
}

function columns(time: (at: number | null) => string): Column<Flow>[] {
  return [
    { title: 'ID', of: (row) => bare(row.flowId) },
    { title: 'STATE', of: (row) => row.state, paint: (row, colours) => flowColour(row.state, colours) },
    { title: 'KIND', of: (row) => row.kind },
    {
      title: 'ENDED',
      of: ({ ended, memberCount }) => `${Object.values(ended).reduce((sum, count) => sum + count, 0)}/${memberCount}`,
      align: 'right',
    },
    {
      title: 'CREATED',
      of: (row) => time(row.createdAt),
      align: 'right',
    },
    { title: 'WHY', of: (row) => bareIds(row.cancellation?.reason ?? ''), gives: true },
  ]
}

function addShow(flow: Command, cli: Cli): void {
  const command = flow
    .command('show')
    .description('show a flow and draw its graph; above 60 members, a summary')
    .argument('<id>', 'flow id or prefix')
    .option('--full', 'draw the whole graph, whatever its size')
    .addHelpText('after', examples('flow show 0190b6d2-4f1c', 'flow show 0190b6d2-4f1c --json'))
  cli.does(command, ({ full = false }: { full?: boolean }, id: string) =>
    cli.connected(async ({ engine }) => {
      const flowId = (await flowOf(engine, id)) as FlowId
      const found = await engine.flows.describe(flowId)
      const graph = await wholeGraph(engine, flowId)
      if (found === null || graph === null) {
        throw new EngineError('flow_not_found', `flow ${flowId} does not exist`, { flowId })
      }
      const { groups: _some, hasMoreGroups: _more, ...shown } = found
      if (cli.json) cli.out.json({ flow: shown, ...graph })
      else showFlow(cli.out, found, graph, await engine.serverTime(), full)
    }),
  )
}

type WholeGraph = Pick<FlowGraph, 'members' | 'edges' | 'groups'>

/** Read page by page; a flow that changes meanwhile may show parts of both versions. */
async function wholeGraph(engine: Engine, flowId: FlowId): Promise<WholeGraph | null> {
  const pages: FlowGraph[] = []
  let cursor: string | null = null
  do {
    const page: FlowGraph | null = await engine.flows.graph(flowId, cursor === null ? {} : { cursor })
    if (page === null) return null
    pages.push(page)
    cursor = page.nextCursor
  } while (cursor !== null)
  return {
    members: pages.flatMap((page) => page.members),
    edges: pages.flatMap((page) => page.edges),
    groups: pages.flatMap((page) => page.groups),
  }
}

interface FlowCancelOptions {
  readonly policy?: CancelPolicy
  readonly reason?: string
  readonly wait?: Duration
}

function addCancel(flow: Command, cli: Cli): void {
  const command = flow
    .command('cancel')
    .description('cancel a flow and its members')
    .argument('<id>', 'flow id or prefix')
    .addOption(
      new Option(
        '--policy <policy>',
        'members to cancel: all that have not ended, those that never ran, or none (default: cancel_all)',
      ).choices(policies),
    )
    .option('--reason <text>', 'reason to record')
    .option('--wait <duration>', 'wait up to this long for its members to end')
    .addHelpText('after', examples("flow cancel 0190b6d2-4f1c --reason 'wrong branch' --wait 10s"))
  cli.does(command, ({ policy, reason, wait }: FlowCancelOptions, id: string) =>
    cli.connected(async ({ engine }) => {
      const flowId = await flowOf(engine, id)
      const answer = await engine.flows.cancel({
        flowId,
        ...(policy !== undefined && { policy }),
        ...(reason !== undefined && { reason }),
        ...(wait !== undefined && { wait }),
      })
      if (cli.json) return cli.out.json(answer)
      const words = {
        cancelled: `cancelled, with ${answer.memberCount} of its members`,
        cancellation_scheduled: `cancelled; ${answer.memberCount} of its members are still to be cancelled`,
        already_cancelled: 'was already cancelled',
      }
      cli.out.line(`${bare(flowId)} ${words[answer.kind]}`)
    }),
  )
}
