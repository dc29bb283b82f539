import { expect, test } from 'vitest'
import { bare } from '../../src/cli/ids.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Execution } from '../../src/engine/execution/snapshot.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { fenceOf, held } from '../engine/execution/holder.ts'
import { forgedToken } from '../engine/waiting/signal/forge.ts'
import { claimed } from './claimed.ts'
import { interruptible, typed, typing, type Typing } from './typed.ts'

async function submitted(cli: Typing, ...argv: string[]): Promise<ExecutionId> {
  const { executionId } = await cli.json<{ executionId: ExecutionId }>('submit', ...argv)
  return executionId
}

test('list has pages, filters, an option for all, and lines for a program', async () => {
  const cli = await typing()
  for (const kind of ['a', 'b', 'c']) await cli.type('submit', kind, '--tag', `letter=${kind}`)
  type Page = { executions: Execution[]; nextCursor: string | null }
  const first = await cli.json<Page>('list', '--limit', '2')
  expect(first.executions.map((each) => each.kind)).toEqual(['c', 'b'])
  const second = await cli.json<Page>('list', '--limit', '2', '--cursor', first.nextCursor!)
  expect(second).toMatchObject({ executions: [{ kind: 'a' }], nextCursor: null })
  expect((await cli.json<Page>('list', '--tag', 'letter=b')).executions).toHaveLength(1)
  expect((await cli.json<Page>('list', '--state', 'failed')).executions).toEqual([])

  const { out } = await cli.type('list', '--all', '--limit', '1', '--json')
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  ).toEqual(['c', 'b', 'a'])
  const piped = (await cli.type('list', '--all')).out
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  expect(piped.map(([, state, kind]) => [state, kind])).toEqual([
    ['waiting', 'c'],
    ['waiting', 'b'],
    ['waiting', 'a'],
  ])
  const screen = await cli.typeWith({ columns: 100 }, 'list', '--limit', '1')
  expect(screen.out).toMatch(/^ID +STATE +KIND +LANE +CREATED +WHY\n/)
  expect(screen.err).toContain('More rows: use --all, or --cursor ')
  expect((await cli.typeWith({ columns: 100 }, 'list', '--kind', 'z')).err).toBe('No executions match.\n')
})

test('a list on a narrow screen keeps its ids whole and drops columns that do not fit', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const { out } = await cli.typeWith({ columns: 60 }, 'list')
  expect(out).toContain(bare(id))
  expect(out).not.toContain('WHY')
  expect(out.split('\n').every((line) => line.length <= 60)).toBe(true)
})

test('a namespace is a boundary at the command line, too', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k', '--namespace', 'shop')
  expect((await cli.engine.executions.describe(id))?.namespace).toBe('shop')
  expect((await cli.type('show', id, '--namespace', 'other')).code).toBe(1)
  expect((await cli.type('show', id, '--namespace', 'shop')).code).toBe(0)
})

test('show prints the reason, the steps and the events, on a screen and as JSON', async () => {
  const cli = await typing()
  const onboard = task('onboard', async (ctx, { email }: { email: string }) => {
    await ctx.step('create account', () => `account of ${email}`)
    return ctx.waitFor('approval')
  })
  const worker = new Worker({ tasks: [onboard], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const id = await submitted(cli, 'onboard', '{"email":"ada@example.com"}')
  await worker.tick()
  await worker.stop()

  const { out } = await cli.typeWith({ columns: 120 }, 'show', id)
  expect(out).toMatch(/^onboard {2}suspended {2}[\da-f-]{36}\n/)
  expect(out).toContain('waiting for one of (a signal at waitpoint')
  expect(out).toContain('an operator: flowfabric resume')
  expect(out).toMatch(/Waitpoints\nKEY +WAITPOINT/)
  expect(out).toMatch(/create account +step +succeeded +1 .*"account of ada@example\.com"/)
  expect(out).toMatch(/Timeline\n/)
  expect(out.split('\n').every((line) => line.length <= 120)).toBe(true)

  const whole = await cli.json<Record<string, unknown>>('show', id)
  expect(whole).toMatchObject({
    execution: { executionId: id, publicState: 'suspended' },
    explanation: { sentence: expect.stringContaining('waiting for') },
    result: null,
    waitpoints: [{ key: 'approval' }],
    steps: [{ name: 'create account', result: 'account of ada@example.com' }],
    attempts: [{ attemptIndex: 0 }],
  })
  expect((whole['events'] as unknown[]).length).toBeGreaterThan(1)
})

test('approve answers by the execution or by the waitpoint, once, and may refuse', async () => {
  const cli = await typing()
  const decide = task('decide', async (ctx) => ctx.waitFor('approval'))
  const worker = new Worker({ tasks: [decide], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const [yes, no] = [await submitted(cli, 'decide'), await submitted(cli, 'decide')]
  while ((await worker.tick()) > 0);

  const approved = await cli.json<{ effect: string }>('approve', yes, '--comment', 'fine', '--actor', 'grace')
  expect(approved).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  const { waitpoints } = await cli.engine.waitpoints.list(no)
  const refused = await cli.type('approve', waitpoints[0]!.waitpointId, '--refuse')
  expect(refused.out).toBe('Signal accepted; the execution resumed.\n')
  while ((await worker.tick()) > 0);
  await worker.stop()

  const result = async (id: string): Promise<unknown> => (await cli.json<{ result: unknown }>('show', id)).result
  expect(await result(yes)).toEqual({ approved: true, by: 'grace', comment: 'fine' })
  expect(await result(no)).toMatchObject({ approved: false })
  const late = await cli.type('approve', yes)
  expect(late.code).toBe(1)
  expect(late.err).toContain('has no open waitpoint')
})

test('approve lists the waitpoints when an execution has several', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const fence = await claimed(cli.engine, id)
  for (const key of ['legal', 'finance']) await cli.engine.waitpoints.create({ ...fence, key })
  const { code, err } = await cli.type('approve', id)
  expect(code).toBe(2)
  expect(err).toMatch(/has the open waitpoints "(legal|finance)", "(legal|finance)"; choose one with --waitpoint/)
  expect((await cli.type('approve', id, '--waitpoint', 'legal')).out).toContain('it is stored until')
})

test('show prints the content and the effect of each signal', async () => {
  const cli = await typing()
  const fence = fenceOf(await held(cli.engine))
  const condition = { kind: 'signal', waitpoint: 'door', name: 'ready' } as const
  const parked = await cli.engine.executions.suspend({ ...fence, condition })
  if (parked.kind !== 'suspended') return expect.unreachable(parked.kind)
  const { waitpointId, token } = parked.waitpoints[0]!
  const other = await cli.type('signal', waitpointId, 'other', '--token', token!)
  expect(other.out).toBe('Signal accepted and stored; the execution waits for more.\n')
  await cli.type('signal', waitpointId, 'ready', '--token', token!)
  const { out } = await cli.type('show', fence.executionId)
  expect(out).toMatch(/\tsignalled\t"other" appended_to_waitpoint/)
  expect(out).toMatch(/\tsignalled\t"ready" resume_condition_satisfied/)
})

test('signal prints a hint when the execution waits for another name', async () => {
  const cli = await typing()
  const decide = task('decide', async (ctx) => ctx.waitFor('approval'))
  const worker = new Worker({ tasks: [decide], handleSignals: false }, { engine: cli.engine, codec: jsonCodec })
  const id = await submitted(cli, 'decide')
  await worker.tick()
  await worker.stop()
  expect(await cli.type('signal', id, 'aproval')).toEqual({
    code: 0,
    out: 'Signal accepted; it is stored until the execution waits for it.\n',
    err: 'hint: the execution waits for "approval", not "aproval"; did you mean approval?\n',
  })
  expect(await cli.json('signal', id, 'aprovl')).toMatchObject({
    hint: expect.stringContaining('did you mean approval?'),
  })
})

test('signal sends by name, or by the token of a waitpoint', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  expect((await cli.type('signal', id, 'hello', '{"a":1}')).out).toBe(
    'Signal accepted; it is stored until the execution waits for it.\n',
  )
  const { waitpointId, token } = await cli.engine.waitpoints.create({ ...(await claimed(cli.engine, id)), key: 'w' })
  const wrong = await cli.type('signal', waitpointId, 'paid', '--token', forgedToken(token))
  expect(wrong.code).toBe(1)
  expect(await cli.json('signal', waitpointId, 'paid', '--token', token, '--key', 'once')).toMatchObject({
    kind: 'accepted',
  })
  expect(await cli.json('signal', waitpointId, 'paid', '--token', token, '--key', 'once')).toMatchObject({
    kind: 'duplicate',
  })
})

test('cancel, replay and resume take many ids, also from a pipe, and a refusal stops none of the others', async () => {
  const cli = await typing()
  const ids = [await submitted(cli, 'k'), await submitted(cli, 'k'), await submitted(cli, 'k')]
  const gone = '{fp:1}:0190b6d2-0000-7000-8000-000000000000'
  const cancelled = await cli.type('cancel', ids[0]!, gone, '--reason', 'enough')
  expect(cancelled.code).toBe(1)
  expect(cancelled.out).toBe(`${bare(ids[0]!)}\tcancelled, was waiting\n`)
  expect(cancelled.err).toContain(`refused: execution ${bare(gone)} does not exist`)

  const listed = (await cli.type('list', '--state', 'waiting', '--all')).out
  const rest = await cli.typeWith({ stdin: listed }, 'cancel', '-', '--json')
  expect(rest.code).toBe(0)
  expect(rest.out.trim().split('\n')).toHaveLength(2)
  expect((await cli.engine.executions.describe(ids[0]!))?.cancelledBy).toMatch(/^cli:/)

  const replayed = await cli.type('replay', ...ids)
  expect(replayed.out.match(/replayed as generation 1, was cancelled/g)).toHaveLength(3)
  const resumed = await cli.type('resume', ids[0]!)
  expect(resumed.code).toBe(1)
  expect(resumed.err).toContain('refused: ')
})

test('watch follows one execution until it has ended', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const watched = cli.typeWith({ signal: interruptible().signal }, 'watch', id, '--json')
  const fence = await claimed(cli.engine, id)
  await cli.engine.executions.complete(fence)
  const { code, out } = await watched
  expect(code).toBe(0)
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  ).toEqual(['acquired', 'ended'])
  const again = await cli.typeWith({ signal: interruptible().signal }, 'watch', id)
  expect(
    again.out
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[1]),
  ).toEqual(['acquired', 'ended'])
})

test('watch of one execution subscribes to that one only, and to nothing when it has ended', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  const asked: unknown[] = []
  const events: Engine['events'] = {
    timeline: (...given) => cli.engine.events.timeline(...given),
    subscribe: (request) => {
      asked.push(request)
      return cli.engine.events.subscribe(request)
    },
  }
  const engine = { as: () => ({ ...cli.engine, events }) }
  const connect = async () => ({ engine, close: async () => {} }) as unknown as FlowFabric
  const { signal } = interruptible()
  const watched = typed(['watch', id, '--json'], { connect }, { signal })
  await expect.poll(() => asked).toEqual([{ executionId: id, signal }])
  await cli.type('cancel', id)
  expect((await watched).code).toBe(0)
  expect((await typed(['watch', id], { connect }, { signal })).out).toContain('\tended\t')
  expect(asked).toHaveLength(1)
})

test('watch of a replayed execution continues after its earlier endings', async () => {
  const cli = await typing()
  const id = await submitted(cli, 'k')
  await cli.type('cancel', id)
  await cli.type('replay', id)
  const onWritten = (text: string): void => {
    if (text.includes('replayed')) isReplayed()
  }
  let isReplayed = (): void => {}
  const replayed = new Promise<void>((resolve) => (isReplayed = resolve))
  const watched = cli.typeWith({ signal: interruptible().signal, onWritten }, 'watch', id)
  await replayed
  await cli.type('cancel', id)
  const { code, out } = await watched
  const kinds = out
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[1])
  expect({ code, kinds }).toEqual({ code: 0, kinds: ['ended', 'replayed', 'ended'] })
})

test('watch follows all executions until it is interrupted, and then ends with 0', async () => {
  const cli = await typing()
  const controller = interruptible()
  const onWritten = (text: string): void => {
    if (text.includes('Waiting for events')) hasBegun()
    if (text.includes('ended')) controller.abort()
  }
  let hasBegun = (): void => {}
  const begun = new Promise<void>((resolve) => (hasBegun = resolve))
  const watched = cli.typeWith({ columns: 120, signal: controller.signal, onWritten }, 'watch', '--kind', 'ended')
  await begun
  await cli.type('cancel', await submitted(cli, 'k'))
  const { code, out } = await watched
  expect(code).toBe(0)
  expect(out).toMatch(/^[\d:.]{12} {2}[\da-f-]{36} +ended +cancelled by cli:/)
})
