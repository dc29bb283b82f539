// Values for which every statement of the engine finds rows on a database that `fill` has filled: by the name of the
// parameter, otherwise by its type.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { allDuties } from '../../src/engine/duties/all.ts'
import { encode } from '../../src/sql/encode.ts'
import type { Statement } from '../../src/sql/statement.ts'

/** The size of a set, and of a page. */
export const sampleSize = 10

/** A poll queries all of them. */
export const polledDuties = allDuties('embedded').map((duty) => duty.name)

type Sample = Readonly<Record<string, unknown>>

/** An existing row for each of the states that statements search for. */
export interface Facts {
  readonly waiting: readonly Sample[]
  readonly active: readonly Sample[]
  readonly suspended: readonly Sample[]
  readonly ended: readonly Sample[]
  readonly shared: Sample
}

export async function readFacts(client: pg.Client): Promise<Facts> {
  const inPhase = async (phase: string): Promise<Sample[]> => {
    const { rows } = await client.query<Sample>(executionsIn, [phase, sampleSize])
    return rows
  }
  const { rows } = await client.query<Sample>(middles)
  return {
    waiting: await inPhase('runnable'),
    active: await inPhase('active'),
    suspended: await inPhase('suspended'),
    ended: await inPhase('terminal'),
    shared: { ...plain, ...rows[0] },
  }
}

const executionsIn = `
select e.execution_id, e.partition_key, e.lease_id, e.lease_epoch, s.suspension_id,
  (select w.waitpoint_id from flowfabric.ff_waitpoint_pending w
    where w.execution_id = e.execution_id and w.state <> 'closed' limit 1) as waitpoint_id,
  (select g.signal_no from flowfabric.ff_signal g where g.execution_id = e.execution_id limit 1) as signal_no
from flowfabric.ff_exec_core e
left join flowfabric.ff_suspension_current s using (execution_id)
where lifecycle_phase = $1::flowfabric.ff_lifecycle_phase
order by execution_id
limit $2`

// In the middle of every order, so that pages find rows in both directions.
const middles = `
select e.execution_id, e.partition_key, e.parent_id, e.created_at_ms, e.created_at_ms as rank, e.flow_id,
  e.flow_id as root_flow_id, e.execution_id as member_id,
  (select x.edge_id from flowfabric.ff_edge x where x.downstream_id = e.execution_id limit 1) as edge_id,
  (select array_agg(queue_id) from flowfabric.ff_queue) as queue_ids,
  (select percentile_disc(0.5) within group (order by delay_until_ms) from flowfabric.ff_exec_core) as delay_until_ms,
  (select percentile_disc(0.5) within group (order by terminal_at_ms) from flowfabric.ff_exec_core) as terminal_at_ms,
  (select percentile_disc(0.5) within group (order by parked_at_ms) from flowfabric.ff_exec_core) as parked_at_ms,
  (select percentile_disc(0.5) within group (order by expires_at_ms) from flowfabric.ff_lease) as expires_at_ms,
  (select percentile_disc(0.5) within group (order by event_id) from flowfabric.ff_event) as event_id,
  (select array_agg(schedule_id) from (select schedule_id from flowfabric.ff_schedule limit ${sampleSize}) s) as schedule_ids
from flowfabric.ff_exec_core e
where e.parent_id is not null and e.flow_id is not null and e.namespace = 'tenant-1'
order by e.created_at_ms
offset (
  select count(*) / 2
  from flowfabric.ff_exec_core
  where parent_id is not null and flow_id is not null and namespace = 'tenant-1')
limit 1`

const plain: Sample = {
  namespace: 'tenant-1',
  wanted: 'tenant-1',
  lane: 'lane-1',
  kind: 'kind-1',
  state: 'suspended',
  outcome: 'success',
  cancel_policy: 'cancel_all',
  tag_key: 'team',
  tag_value: 'team-1',
  key: 'team',
  tag_keys: ['team'],
  tag_values: ['team-1'],
  kinds: [],
  only: [],
  named: [],
  wanted_names: [],
  with_tags: true,
  limit: sampleSize,
  batch: sampleSize,
  max: sampleSize,
  candidates: sampleSize,
  stop: sampleSize,
  window: 100,
  neg_priority: 0,
  interruptions: Array.from({ length: sampleSize }, () => 'signalled'),
  group_states: Array.from({ length: sampleSize }, () => 'pending'),
  resolutions: Array.from({ length: sampleSize }, () => 'satisfied'),
  outcomes: Array.from({ length: sampleSize }, () => 'success'),
  flow_outcomes: Array.from({ length: sampleSize }, () => 'none'),
  cancel_policies: Array.from({ length: sampleSize }, () => null),
  source_types: Array.from({ length: sampleSize }, () => 'token'),
  effects: Array.from({ length: sampleSize }, () => 'no_op'),
  timeout_behaviours: Array.from({ length: sampleSize }, () => 'fail'),
  required_names: Array.from({ length: sampleSize }, () => []),
  taken_nos: Array.from({ length: sampleSize }, () => '{}'),
  categories: Array.from({ length: sampleSize }, () => 'transient'),
  join_policies: Array.from({ length: sampleSize }, () => 'all_of'),
  on_satisfied: Array.from({ length: sampleSize }, () => 'let_run'),
  edge_kind: 'optional',
  join_policy: 'all_of',
  join_on_satisfied: 'let_run',
  edge_kinds: Array.from({ length: sampleSize }, () => 'optional'),
  member_names: Array.from({ length: sampleSize }, (_, index) => `member-${index}`),
  flow_ids: Array.from({ length: sampleSize }, () => randomUUID()),
  edge_ids: Array.from({ length: sampleSize }, () => randomUUID()),
  group_member_ids: Array.from({ length: sampleSize }, () => randomUUID()),
  request_id: Array.from({ length: sampleSize }, () => randomUUID()),
  lease_ttl_ms: 30_000,
  overlap: 'skip',
  catch_up: 'last',
  every_ms: 60_000,
  anchor_at_ms: 0,
  planned_at_ms: 60_000,
  next_fire_at_ms: 60_000,
  states: Array.from({ length: sampleSize }, () => 'succeeded'),
}

export function sampleOf({ name, params }: Statement, facts: Facts): Sample {
  const { shared } = facts
  const rows = rowsFor(name, params, facts)
  const queueIds = shared['queue_ids'] as readonly number[]
  const known: Sample = {
    ...shared,
    ...(params['lease_ids'] === 'uuid[]' && { lease_ids: rows.map((row) => row['lease_id']) }),
    execution_ids: rows.map((row) => row['execution_id']),
    partition_keys: rows.map((row) => row['partition_key']),
    lease_epochs: rows.map((row) => Number(row['lease_epoch'])),
    suspension_ids: rows.map((row) => row['suspension_id'] ?? randomUUID()),
    waitpoint_ids: rows.map((row) => row['waitpoint_id'] ?? randomUUID()),
    signal_nos: rows.map((row) => Number(row['signal_no'] ?? 1)),
    ...('from_ranks' in params && {
      from_neg_priorities: queueIds.map(() => 0),
      from_ranks: queueIds.map(() => 0),
      from_ids: queueIds.map(() => '00000000-0000-0000-0000-000000000000'),
    }),
    ...(isCreation(name) && { queue_ids: rows.map(() => queueIds[0]) }),
    ...(name === 'flow.add-member.join' && { execution_id: randomUUID() }),
    ...(name === 'flow.connect' && { edge_id: randomUUID() }),
    ...(name === 'flow.create' && { tags: {} }),
    first_id: '00000000-0000-0000-0000-000000000000',
    last_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    next: shared['event_id'],
    from: shared['event_id'],
    ...(params['after'] === 'int8' && { after: shared['event_id'] }),
    ...(params['after'] === 'uuid' && { after: '00000000-0000-0000-0000-000000000000' }),
    ...(params['reasons'] === 'text[]' && { reasons: rows.map(() => 'waiting_for_signal') }),
    to: Number(shared['event_id']) + 1000,
    ...(name.startsWith('step.re') && {
      kind: rows.map(() => (name === 'step.record' ? 'step' : 'compensation')),
      state: rows.map(() => 'succeeded'),
      step_index: rows.map((_, index) => index),
    }),
    ...(name.startsWith('task.') && { kinds: rows.map((_, index) => `kind-${index}`) }),
    ...(name === 'step.list' && { after: 0 }),
    ...(name === 'execution.end' && { outcomes: rows.map(() => 'failed') }),
    ...(name === 'execution.requeue' && requeues(rows)),
    ...(name === 'event.make-block' && { first: 20_000_001, end: 30_000_001 }),
    ...(name === 'duty.poll' && {
      duties: polledDuties,
      filters: polledDuties.map(() => ''),
      supervisor_filter: '',
      intervals_ms: polledDuties.map(() => 1000),
      are_hinted: polledDuties.map(() => false),
      horizon_ms: 1000,
      term_ms: 1000,
    }),
    ...(ofOneSuspended.includes(name) && rows[0]),
    ...(name.startsWith('signal.') && { idempotency_keys: rows.map((_, index) => `key-${index}`) }),
    ...(ofNewSignals.includes(name) && { signal_nos: rows.map((_, index) => 1e9 + index) }),
  }
  return Object.fromEntries(
    Object.entries(params).map(([param, type]) => [
      param,
      Object.hasOwn(known, param) && !isFilter(param, type) ? asNumber(type, known[param]) : ofType(type),
    ]),
  )
}

function requeues(rows: readonly Sample[]): Sample {
  return {
    left_ats_ms: rows.map(() => Date.now()),
    events: rows.map(() => 'lapsed'),
    lease_effects: rows.map(() => 'expired'),
    attempt_states: rows.map(() => 'attempt_interrupted'),
    interruptions: rows.map(() => 'lapsed'),
  }
}

function isCreation(name: string): boolean {
  return (
    name.startsWith('execution.create') ||
    ['flow.submit-graph', 'flow.add-member', 'schedule.fire.create'].includes(name)
  )
}

/** What the statements before it in a transaction leave for a statement. */
export function writesBefore({ name, text }: Statement, { waiting }: Facts): readonly string[] {
  const ids = waiting.map((row) => row['execution_id'] as string)
  if (name === 'dispatch.release' || name === 'dispatch.start-nested') {
    return [
      `delete from flowfabric.ff_ready where execution_id = any ('{${ids.join()}}'::uuid[])`,
      `update flowfabric.ff_exec_core
       set eligibility_state = 'blocked_by_dependencies', delay_until_ms = null, parked_at_ms = last_mutation_at_ms,
         parked_state = 'waiting_children'
       where execution_id = any ('{${ids.join()}}'::uuid[])`,
    ]
  }
  if (!text.includes('current_setting(')) return []
  const taken = {
    ordinals: ids.map((_, index) => index),
    ids,
    generations: ids.map(() => 0),
    outcomes: ids.map(() => 'success'),
    nested: ids.map(() => true),
  }
  return Object.entries(taken).map(
    ([what, values]) => `select set_config('ff.taken_${what}', '{${values.join()}}', true)`,
  )
}

function rowsFor(
  name: string,
  params: Statement['params'],
  { waiting, active, suspended, ended }: Facts,
): readonly Sample[] {
  if (isCreation(name)) return waiting.map((row) => ({ ...row, execution_id: randomUUID() }))
  if (name === 'execution.replay' || name === 'flow.replay') return ended
  if (byHolder.includes(name)) return active
  if (ofSuspended.some((noun) => name.startsWith(noun))) return suspended
  return 'lease_ids' in params ? active : waiting
}

const byHolder = [
  'suspension.read-locked',
  'suspension.read-locked.children',
  'suspension.park',
  'suspension.record-directly',
  'suspension.record',
  'suspension.-waitpoints',
  'suspension.read-locked.signals',
  'suspension.read-locked.waitpoints',
  'suspension.resumption',
  'waitpoint.create',
  'execution.requeue',
]
const ofSuspended = ['suspension.', 'signal.', 'waitpoint.', 'execution.resume']

const ofNewSignals = ['signal.record', 'suspension.timeout-signal']
const ofOneSuspended = ['waitpoint.list', 'waitpoint.of-suspension', 'waitpoint.describe-link', 'signal.list']

/** Filters that narrow a list beyond its namespace are omitted: finding a few rows among many requires a search. */
function isFilter(param: string, type: string): boolean {
  return type === 'text?' && ['lane', 'kind', 'state'].includes(param)
}

// The driver returns a bigint as text.
function asNumber(type: string, value: unknown): unknown {
  return type.startsWith('int8') && typeof value === 'string' ? Number(value) : value
}

const scalars: Sample = { uuid: randomUUID(), text: 'x', bool: false, int2: 1, int4: 1, int8: 1, jsonb: [] }

function ofType(type: string): unknown {
  const one = type.includes('?') ? null : scalars[type.replace('[]', '')]
  return type.endsWith('[]') ? Array.from({ length: sampleSize }, () => one) : one
}

/** The values as `execute` takes them. */
export function literalsOf(statement: Statement, sample: Sample): string {
  const texts = Object.entries(statement.params).map(([param, type]) => {
    if (type === 'bytea') return `'\\x00'`
    if (type === 'bytea[]')
      return `array[${Array.from({ length: sampleSize }, (_, no) => `'\\x0${no}'`).join(',')}]::bytea[]`
    if (type.startsWith('bytea')) return type.endsWith('[]') ? `'{${'NULL,'.repeat(sampleSize - 1)}NULL}'` : 'null'
    const one = { ...statement, params: { [param]: type } }
    const [encoded] = encode(one, { [param]: sample[param] })
    return encoded === null ? 'null' : `'${String(encoded).replaceAll("'", "''")}'`
  })
  return texts.length === 0 ? '' : `(${texts.join(', ')})`
}
