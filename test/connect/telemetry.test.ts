import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'
import { connect, task, type FlowFabric } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry.ts'
import { freshPostgres } from '../support/fresh-postgres.ts'
import { patience } from '../support/patience.ts'

async function databaseUrl(): Promise<string> {
  const database = await freshPostgres()
  onTestFinished(async () => expect(await database.end()).toEqual([]))
  return database.url
}

async function traced() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(() => context.disable())
  const tracer = provider.getTracer('test')
  const ff = await connect(await databaseUrl(), { telemetry: openTelemetry({ tracer }) })
  onTestFinished(() => ff.close())
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
  const named = (name: string): ReadableSpan => {
    const found = spans().filter((span) => span.name === name)
    expect(
      found,
      `${name} of ${spans()
        .map((span) => span.name)
        .join(', ')}`,
    ).toHaveLength(1)
    return found[0]!
  }
  return { ff, tracer, spans, named }
}

async function work(ff: FlowFabric, ...tasks: Parameters<FlowFabric['worker']>[0]['tasks'][number][]): Promise<void> {
  await ff.worker({ tasks, handleSignals: false }).start()
}

test('a trace continues from the submit to the run, its steps, and its children', async () => {
  const { ff, tracer, named } = await traced()
  const inner = task('inner', (ctx) => ctx.step('greet', () => 'hello'))
  const outer = task('outer', async (ctx) => {
    const first = await ctx.step('first', async () => 1)
    return `${await ctx.run(inner)} ${first}`
  })
  await work(ff, inner, outer)
  const run = await tracer.startActiveSpan('request', async (span) => {
    const handle = await ff.submit(outer)
    span.end()
    return handle
  })
  expect(await run.result({ timeout: patience(60_000) })).toBe('hello 1')
  const request = named('request')
  const { traceId } = request.spanContext()
  const parentOf = (name: string): string | undefined => named(name).parentSpanContext?.spanId
  expect(parentOf('submit outer')).toBe(request.spanContext().spanId)
  expect(parentOf('step first')).toBeDefined()
  expect(parentOf('run inner')).toBe(named('submit inner').spanContext().spanId)
  expect(parentOf('step greet')).toBe(named('run inner').spanContext().spanId)
  for (const name of ['submit outer', 'step first', 'submit inner', 'run inner', 'step greet']) {
    expect(named(name).spanContext().traceId, name).toBe(traceId)
  }
  expect(named('run inner').attributes).toMatchObject({ 'flowfabric.lane': 'default', 'flowfabric.attempt_index': 0 })
})

test('the span of a waiting run has no error, and that of one that throws has', async () => {
  const { ff, spans } = await traced()
  const waits = task('waits', { retry: { attempts: 1 } }, async (ctx) => {
    await ctx.waitFor('go')
    throw new Error('it is broken')
  })
  await work(ff, waits)
  const run = await ff.submit(waits)
  const runs = () => spans().filter((span) => span.name === 'run waits')
  await expect.poll(() => runs().length).toBe(1)
  await run.signal('go')
  await expect(run.result({ timeout: patience(60_000) })).rejects.toThrow('it is broken')
  const [left, threw] = runs()
  expect(left).toMatchObject({ status: { code: 0 }, attributes: { 'flowfabric.left': 'suspended' } })
  expect(threw).toMatchObject({ status: { code: 2, message: 'it is broken' } })
  expect(threw!.spanContext().traceId).toBe(left!.spanContext().traceId)
})

test('the same request within another trace is the same request', async () => {
  const { ff } = await traced()
  const plain = task('plain', () => {})
  const first = await ff.submit(plain, undefined, { idempotencyKey: 'once' })
  const second = await ff.submit(plain, undefined, { idempotencyKey: 'once' })
  expect(second.id).toBe(first.id)
})

test('without an SDK there are no spans, and an execution stores no trace', async () => {
  trace.disable()
  await using ff = await connect(await databaseUrl(), { telemetry: openTelemetry() })
  const run = await ff.submit(task('plain', () => {}))
  expect(await ff.engine.executions.describe(run.id)).toMatchObject({ tags: {} })
})
