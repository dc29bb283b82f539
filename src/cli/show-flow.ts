// Prints one flow: its graph, with a line for each member; for a large graph, a line for each layer.
import type { Edge } from '../engine/flow/edge.ts'
import type { EdgeGroup } from '../engine/flow/edge-group.ts'
import type { FlowDetail } from '../engine/flow/describe.ts'
import type { Member } from '../engine/flow/graph.ts'
import { publicStates, type PublicState } from '../model/state.ts'
import { flowColour } from './flow-colour.ts'
import { drawGraph, layersOf, type Drawing } from './draw-graph.ts'
import { bare, bareIds } from './ids.ts'
import { stateColour, type Colours, type Column, type Printer } from './print.ts'
import { harmless } from './text.ts'
import { instant, relative, span } from './time.ts'

interface ShownGraph {
  readonly members: readonly Member[]
  readonly edges: readonly Edge[]
  readonly groups: readonly EdgeGroup[]
}

const mostDrawn = 60

export function showFlow(out: Printer, flow: FlowDetail, graph: ShownGraph, now: number, isFull: boolean): void {
  const { colours } = out
  const state = flowColour(flow.state, colours)(flow.state)
  out.line(`${colours.bold(harmless(flow.kind))}  ${state}  ${colours.dim(bare(flow.flowId))}`)
  out.line(countsOf(flow, colours))
  const when = (at: number): string => `${instant(at)} (${relative(at, now)})`
  const ended = flow.endedAt === null ? null : `${when(flow.endedAt)}, after ${span(flow.endedAt - flow.createdAt)}`
  const { cancellation } = flow
  out.facts([
    ['created', `${when(flow.createdAt)} by ${flow.creator}`],
    ['ended', ended],
    ['open', flow.closedAt === null && cancellation === null ? 'accepts more members' : null],
    ['within', flow.memberId === null ? null : bare(flow.memberId)],
    [
      'cancelled',
      cancellation === null ? null : [cancellation.reason, `by ${cancellation.by}`].filter(Boolean).join(' '),
    ],
  ])
  if (graph.members.length === 0) return
  out.line()
  const upstreamIds = upstreamOf(graph)
  const nodes = graph.members.map(({ executionId: id }) => ({
    id: id as string,
    upstreamIds: upstreamIds.get(id) ?? [],
  }))
  if (graph.members.length > mostDrawn && !isFull) return showLayers(out, graph, layersOf(nodes))
  showMembers(out, graph, drawGraph(nodes, out.hasUnicode), now)
}

function countsOf({ members, memberCount }: FlowDetail, colours: Colours): string {
  const counts = publicStates
    .filter((state) => members[state] > 0)
    .map((state) => stateColour(state, colours)(`${members[state]} ${state}`))
  return `${memberCount} member${memberCount === 1 ? '' : 's'}${counts.length === 0 ? '' : ': '}${counts.join(', ')}`
}

// `start` edges come from the member of the surrounding flow, which is not among the nodes.
function upstreamOf({ edges }: ShownGraph): ReadonlyMap<string, readonly string[]> {
  const upstreamIds = new Map<string, string[]>()
  for (const { upstreamId, downstreamId } of edges) {
    const known = upstreamIds.get(downstreamId)
    if (known === undefined) upstreamIds.set(downstreamId, [upstreamId])
    else known.push(upstreamId)
  }
  return upstreamIds
}

const symbols: Readonly<Record<PublicState, readonly [unicode: string, plain: string]>> = {
  completed: ['✓', 'v'],
  failed: ['✗', 'x'],
  expired: ['✗', 'x'],
  cancelled: ['⊘', '/'],
  skipped: ['⊘', '/'],
  active: ['●', '*'],
  suspended: ['◐', '='],
  waiting_children: ['◐', '='],
  rate_limited: ['◌', '.'],
  delayed: ['◌', '.'],
  resumable: ['○', 'o'],
  waiting: ['○', 'o'],
}

// A wider graph would leave no room for the rest of the line.
const widestShare = 0.6

function showMembers(out: Printer, graph: ShownGraph, drawing: Drawing, now: number): void {
  const memberOf = new Map(graph.members.map((member) => [member.executionId as string, member]))
  const nameOf = (id: string): string => memberOf.get(id)?.name ?? bare(id)
  const isDrawn = drawing.width <= out.width * widestShare
  const needs = new Map(graph.groups.map((group) => [group.downstreamId as string, group]))
  const rows = drawing.rows.map((row) => ({ row, member: memberOf.get(row.id)! }))
  type Row = (typeof rows)[number]
  const symbol = ({ member }: Row): string => symbols[member.publicState][out.hasUnicode ? 0 : 1]
  const columns: Column<Row>[] = [
    {
      title: '',
      of: (each) => (isDrawn ? `${each.row.before}${symbol(each)}${each.row.after}` : symbol(each)),
      paint: (each, colours) => paintSymbol(each.member.publicState, symbol(each), colours),
    },
    { title: 'MEMBER', of: ({ member }) => member.name },
    {
      title: 'STATE',
      of: ({ member }) => member.publicState,
      paint: ({ member }, c) => stateColour(member.publicState, c),
    },
    { title: 'TOOK', of: ({ member }) => tookOf(member, now), align: 'right' },
    { title: 'WAITS FOR', of: ({ member }) => waitsFor(graph, member, needs, nameOf, !isDrawn), gives: true },
    { title: 'WHY', of: ({ member }) => bareIds(member.reason ?? ''), gives: true },
    { title: 'ID', of: ({ member }) => bare(member.executionId), gives: true },
  ]
  out.table(columns, rows)
}

function paintSymbol(state: PublicState, symbol: string, colours: Colours): (text: string) => string {
  return (text) => {
    const at = text.indexOf(symbol)
    const around = (part: string): string => (part === '' ? '' : colours.dim(part))
    return around(text.slice(0, at)) + stateColour(state, colours)(symbol) + around(text.slice(at + symbol.length))
  }
}

function tookOf({ startedAt, endedAt }: Member, now: number): string {
  return startedAt === null ? '' : span((endedAt ?? now) - startedAt)
}

/** The text beside the drawing: policies other than all, and edges other than success. */
function waitsFor(
  { edges }: ShownGraph,
  member: Member,
  needs: ReadonlyMap<string, EdgeGroup>,
  nameOf: (id: string) => string,
  isNamed: boolean,
): string {
  const inbound = edges.filter((edge) => edge.downstreamId === member.executionId && edge.kind !== 'start')
  const group = needs.get(member.executionId)
  const rule =
    group === undefined || group.policy.kind === 'all_of'
      ? ''
      : group.policy.kind === 'any_of'
        ? `any of ${group.total}`
        : `${group.policy.k} of ${group.total}`
  const named = inbound
    .filter((edge) => isNamed || edge.kind !== 'success_only')
    .map(
      (edge) =>
        `${nameOf(edge.upstreamId)}${edge.kind === 'success_only' ? '' : edge.kind === 'on_failure' ? ' to fail' : ' to end'}`,
    )
  const inner = member.subFlowId === null ? '' : `flow ${bare(member.subFlowId)}`
  return [rule, named.join(', '), inner].filter((part) => part !== '').join('; ')
}

function showLayers(out: Printer, { members }: ShownGraph, layers: ReadonlyMap<string, number>): void {
  const byLayer: Member[][] = []
  for (const member of members) (byLayer[layers.get(member.executionId)!] ??= []).push(member)
  const rows = byLayer.map((inLayer, layer) => ({ inLayer, layer }))
  out.table(
    [
      { title: 'LAYER', of: ({ layer }) => String(layer + 1), align: 'right' },
      { title: 'MEMBERS', of: ({ inLayer }) => String(inLayer.length), align: 'right' },
      { title: 'STATES', of: ({ inLayer }) => statesOf(inLayer) },
      { title: 'NAMES', of: ({ inLayer }) => inLayer.map((member) => member.name).join(' '), gives: true },
    ],
    rows,
  )
  if (out.isTerminal) out.line(out.colours.dim('Use --full to draw the graph.'))
}

function statesOf(members: readonly Member[]): string {
  return publicStates
    .map((state) => ({ state, count: members.filter((member) => member.publicState === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`)
    .join(', ')
}
