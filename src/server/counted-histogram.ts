// A histogram of values that were counted elsewhere: it adds to buckets, while the library's histogram observes one
// value at a time.
import type { Metric, Registry } from 'prom-client'
import type { Spans } from '../engine/lane/measure-endings.ts'

type Labels = Readonly<Record<string, string>>

interface Series {
  readonly labels: Labels
  count: number
  totalMs: number
  atMost: readonly number[]
}

export class CountedHistogram {
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()

  /** Bounds in milliseconds; they are shown in seconds. */
  constructor(registry: Registry, name: string, help: string, boundsMs: readonly number[]) {
    this.name = name
    this.#help = help
    this.#bounds = boundsMs.map((ms) => ms / 1000)
    // A registry uses only the name and `get` of a metric; its types allow only the library's own.
    registry.registerMetric(this as unknown as Metric)
  }

  add(labels: Labels, { count, totalMs, atMost }: Spans): void {
    if (count === 0) return
    const key = JSON.stringify(labels)
    const before = this.#series.get(key) ?? { labels, count: 0, totalMs: 0, atMost: [] }
    this.#series.set(key, {
      labels,
      count: before.count + count,
      totalMs: before.totalMs + totalMs,
      atMost: atMost.map((some, i) => some + (before.atMost[i] ?? 0)),
    })
  }

  get(): object {
    const values = [...this.#series.values()].flatMap(({ labels, count, totalMs, atMost }) => [
      ...this.#bounds.map((le, i) => this.#value('bucket', { ...labels, le: String(le) }, atMost[i]!)),
      this.#value('bucket', { ...labels, le: '+Inf' }, count),
      this.#value('sum', labels, totalMs / 1000),
      this.#value('count', labels, count),
    ])
    return { name: this.name, help: this.#help, type: 'histogram', values, aggregator: 'sum' }
  }

  #value(part: string, labels: Labels, value: number): object {
    return { metricName: `${this.name}_${part}`, labels, value }
  }
}
