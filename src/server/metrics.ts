// What Prometheus reads. What this server did is counted here as it happens; what the database holds is measured when somebody
// asks, at most once in ten seconds, and bounded. The latter is the same on every server: take the maximum of them, not the sum.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Operation } from '../api/routes.ts'
import type { Engine } from '../engine/contract.ts'
import type { LaneMeasures, MeasuredEnding } from '../engine/lane/measure.ts'
import { EngineError } from '../model/errors.ts'
import type { Gate } from './gate.ts'
import { addressOf, type Router } from './router.ts'

const seconds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60]
const longSeconds = [0.01, 0.1, 1, 10, 60, 600, 3600, 86_400]
const keptMs = 10_000

const outcomes: Readonly<Record<MeasuredEnding['outcome'], string>> = {
  success: 'ok',
  failed: 'error',
  cancelled: 'cancelled',
  expired: 'timeout',
  skipped: 'skipped',
}

interface Told {
  readonly kind?: string
  readonly effect?: string
}

export class Metrics {
  readonly #engine: Engine
  readonly #registry = new Registry()
  readonly #registers = [this.#registry]
  readonly #requests = this.#counter('ff_http_requests_total', 'Requests.', ['method', 'path', 'status'])
  readonly #requestSeconds = this.#histogram(
    'ff_http_request_duration_seconds',
    'How long requests took.',
    ['method', 'path'],
    seconds,
  )
  readonly #renewals = this.#counter('ff_lease_renewal_total', 'Leases that were to be renewed.', ['outcome'])
  readonly #retries = this.#counter('ff_attempt_retry_total', 'Failures after which another attempt follows.', [])
  readonly #signals = this.#counter('ff_signals_total', 'Signals, by what they did.', ['effect'])
  readonly #errors = this.#counter('ff_backend_errors_total', 'Faults, by operation and code.', ['op', 'kind'])
  readonly #endings = this.#counter('ff_attempt_outcome_total', 'Executions that ended.', ['lane', 'outcome'])
  readonly #wait = this.#histogram(
    'ff_execution_wait_seconds',
    'From creation to the first start.',
    ['lane'],
    longSeconds,
  )
  readonly #run = this.#histogram(
    'ff_execution_duration_seconds',
    'From the first start to the end.',
    ['lane', 'outcome'],
    longSeconds,
  )
  readonly #depth = this.#gauge('ff_queue_depth', 'Executions by state, 10,000 at most.', ['lane', 'state'])
  readonly #age = this.#gauge('ff_queue_oldest_age_seconds', 'The age of the oldest that is ready.', ['lane'])
  readonly #suspended = this.#gauge('ff_suspended', 'Suspended executions, 10,000 at most.', ['lane'])
  readonly #workers = this.#gauge('ff_workers', 'Workers that are alive, 1,000 at most.', ['namespace'])
  #measuredAt = -Infinity
  #measuring: Promise<void> | null = null
  /** By the database's clock: endings up to here are counted. */
  #endedAfter: number | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly contentType = this.#registry.contentType

  request(method: string, path: string, status: number, ms: number): void {
    const known = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'].includes(method) ? method : 'OTHER'
    this.#requests.inc({ method: known, path, status: String(status) })
    this.#requestSeconds.observe({ method: known, path }, ms / 1000)
  }

  fault(operationId: string, code: string): void {
    this.#errors.inc({ op: operationId, kind: code })
  }

  /** What an operation answered, where that is counted; of a set, each of its answers. */
  answered({ noun, verb }: Operation, answer: unknown): void {
    const told: readonly Told[] = Array.isArray(answer) ? answer : [answer ?? {}]
    for (const one of told) this.#count(noun, one)
    if (verb !== 'renew') return
    const { leases } = answer as { readonly leases: readonly Told[] }
    for (const { kind } of leases) this.#renewals.inc({ outcome: kind === 'lost' ? 'error' : 'ok' })
  }

  #count(noun: string | null, { kind, effect }: Told): void {
    if (noun === 'executions' && kind === 'retry_scheduled') this.#retries.inc()
    if (noun === 'signals' && effect !== undefined) this.#signals.inc({ effect })
  }

  async text(): Promise<string> {
    // Together, when several ask at once.
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = null))
    await this.#measuring
    return this.#registry.metrics()
  }

  async #measure(): Promise<void> {
    if (performance.now() - this.#measuredAt < keptMs) return
    const after = this.#endedAfter === null ? {} : { endedAfter: this.#endedAfter }
    const [measures, { workers }] = await Promise.all([
      this.#engine.lanes.measure(after),
      this.#engine.workers.list({ limit: 1000 }),
    ])
    this.#measuredAt = performance.now()
    this.#endedAfter = measures.now
    this.#showLanes(measures)
    this.#workers.reset()
    for (const { namespace } of workers) this.#workers.inc({ namespace: namespace ?? '*' })
  }

  // Lanes of the same name in several namespaces are one here.
  #showLanes({ now, lanes, endings }: LaneMeasures): void {
    for (const gauge of [this.#depth, this.#age, this.#suspended]) gauge.reset()
    const oldest = new Map<string, number>()
    for (const { lane, ready, delayed, suspended, oldestReadyAt } of lanes) {
      this.#depth.inc({ lane, state: 'ready' }, ready.count)
      this.#depth.inc({ lane, state: 'delayed' }, delayed.count)
      this.#depth.inc({ lane, state: 'suspended' }, suspended.count)
      this.#suspended.inc({ lane }, suspended.count)
      const age = oldestReadyAt === null ? 0 : Math.max(0, now - oldestReadyAt) / 1000
      oldest.set(lane, Math.max(age, oldest.get(lane) ?? 0))
    }
    for (const [lane, age] of oldest) this.#age.set({ lane }, age)
    for (const { lane, outcome, waitMs, runMs } of endings) {
      this.#endings.inc({ lane, outcome: outcomes[outcome] })
      if (waitMs !== null) this.#wait.observe({ lane }, waitMs / 1000)
      if (runMs !== null) this.#run.observe({ lane, outcome: outcomes[outcome] }, runMs / 1000)
    }
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: this.#registers })
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: this.#registers })
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: this.#registers })
  }
}

const metricsRoute = { operationId: 'metrics', scopes: ['read'] } as const

/** Without a gate, whoever comes may read them. */
export function addMetrics(app: Router, metrics: Metrics, gate: Gate | null): void {
  app.get('/metrics', async (context) => {
    context.set('path', '/metrics')
    if (gate !== null) {
      const { identity } = await gate.admit(metricsRoute, context.req.raw.headers, addressOf(context))
      if (identity.namespace !== '*') {
        throw new EngineError('forbidden', 'metrics are of all namespaces; they need a key of all of them')
      }
    }
    return context.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
  })
}
