// Metrics of lanes and workers from the database: measured on request, at most once in ten seconds, and bounded. They
// are the same on every server, whichever process does the work: take the maximum of them, not the sum.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Engine } from '../engine/contract.ts'
import type { LaneEndings } from '../engine/lane/measure-endings.ts'
import type { LaneMeasure, LaneMeasures } from '../engine/lane/measure.ts'
import { spanBoundsMs } from '../model/span.ts'
import { CountedHistogram } from './counted-histogram.ts'

const keptMs = 10_000
// Further lanes share one label, so that invented names do not fill the memory.
const mostLanes = 200

const outcomes: Readonly<Record<LaneEndings['outcome'], string>> = {
  success: 'ok',
  failed: 'error',
  cancelled: 'cancelled',
  expired: 'timeout',
  skipped: 'skipped',
}

const states = ['ready', 'delayed', 'suspended', 'active'] as const satisfies readonly (keyof LaneMeasure)[]

export class LaneMetrics {
  readonly #engine: Engine
  readonly #depth
  readonly #age
  readonly #suspended
  readonly #workers
  readonly #cancelling
  readonly #endings
  readonly #siblings
  readonly #wait
  readonly #run
  readonly #lanes = new Set<string>()
  #measuredAt = -Infinity
  #measuring: Promise<void> | null = null
  /** By the database's clock: endings up to this time are counted. */
  #endedUntil: number | null = null

  constructor(engine: Engine, registry: Registry) {
    this.#engine = engine
    const registers = [registry]
    this.#depth = new Gauge({
      name: 'ff_queue_depth',
      help: 'Executions by state: ready, delayed, suspended, active; 10,000 of each at most.',
      labelNames: ['lane', 'state'],
      registers,
    })
    this.#age = new Gauge({
      name: 'ff_queue_oldest_age_seconds',
      help: 'How long ago the oldest that is ready was created.',
      labelNames: ['lane'],
      registers,
    })
    this.#suspended = new Gauge({
      name: 'ff_suspended',
      help: 'Suspended executions, 10,000 at most.',
      labelNames: ['lane'],
      registers,
    })
    this.#workers = new Gauge({
      name: 'ff_workers',
      help: 'Workers that are alive, 1,000 at most.',
      labelNames: ['namespace'],
      registers,
    })
    this.#cancelling = new Gauge({
      name: 'ff_cancel_backlog_depth',
      help: 'Members of flows that are still to be cancelled, 10,000 at most.',
      registers,
    })
    this.#endings = new Counter({
      name: 'ff_attempt_outcome_total',
      help: 'How attempts ended: ok, error, timeout, cancelled, skipped; retry, once their execution has ended.',
      labelNames: ['lane', 'outcome'],
      registers,
    })
    this.#siblings = new Counter({
      name: 'ff_sibling_cancel_dispatched_total',
      help: 'Members of flows that were cancelled because their siblings were enough, or could not be enough.',
      labelNames: ['reason'],
      registers,
    })
    const ended = (name: string, help: string): CountedHistogram =>
      new CountedHistogram(registry, name, help, spanBoundsMs)
    this.#wait = ended('ff_execution_wait_seconds', 'Of executions that ended: from creation to the first start.')
    this.#run = ended('ff_execution_duration_seconds', 'Of executions that ended: from the first start to the end.')
  }

  /** Concurrent requests share one measurement. */
  refresh(): Promise<void> {
    return (this.#measuring ??= this.#measure().finally(() => (this.#measuring = null)))
  }

  async #measure(): Promise<void> {
    if (performance.now() - this.#measuredAt < keptMs) return
    const after = this.#endedUntil === null ? {} : { endedAfter: this.#endedUntil }
    const [measures, { workers }] = await Promise.all([
      this.#engine.lanes.measure(after),
      this.#engine.workers.list({ limit: 1000 }),
    ])
    this.#measuredAt = performance.now()
    this.#endedUntil = measures.endedUntil
    this.#showLanes(measures)
    for (const ending of measures.endings) this.#countEndings(ending)
    this.#workers.reset()
    for (const { namespace } of workers) this.#workers.inc({ namespace: namespace ?? '*' })
  }

  // Lanes of the same name in several namespaces are one here.
  #showLanes({ now, lanes }: LaneMeasures): void {
    for (const gauge of [this.#depth, this.#age, this.#suspended, this.#cancelling]) gauge.reset()
    const oldest = new Map<string, number>()
    for (const measure of lanes) {
      const lane = this.known(measure)
      for (const state of states) this.#depth.inc({ lane, state }, measure[state].count)
      this.#suspended.inc({ lane }, measure.suspended.count)
      this.#cancelling.inc(measure.cancelling.count)
      const age = measure.oldestReadyAt === null ? 0 : Math.max(0, now - measure.oldestReadyAt) / 1000
      oldest.set(lane, Math.max(age, oldest.get(lane) ?? 0))
    }
    for (const [lane, age] of oldest) this.#age.set({ lane }, age)
  }

  #countEndings(ended: LaneEndings): void {
    const [lane, outcome] = [this.known(ended), outcomes[ended.outcome]]
    this.#endings.inc({ lane, outcome }, ended.count)
    this.#endings.inc({ lane, outcome: 'retry' }, ended.retryCount)
    this.#siblings.inc({ reason: 'sibling_quorum_satisfied' }, ended.quorumSatisfiedCount)
    this.#siblings.inc({ reason: 'sibling_quorum_impossible' }, ended.quorumImpossibleCount)
    this.#wait.add({ lane }, ended.wait)
    this.#run.add({ lane, outcome }, ended.run)
  }

  /** The lane as a label. */
  known({ lane }: { readonly lane: string }): string {
    if (this.#lanes.size < mostLanes) this.#lanes.add(lane)
    return this.#lanes.has(lane) ? lane : 'other'
  }
}
