// The counters of a worker's runs, in the text format of Prometheus. Written by hand, so that a worker loads no package
// for it.
import type { Outcome } from './outcome.ts'

/** The same as those of a server. */
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60]

interface TaskCounts {
  readonly byOutcome: Map<string, number>
  /** How many runs took at most so long, for each bound. */
  readonly within: number[]
  count: number
  seconds: number
}

/** The state of a worker at the time of the scrape. */
export interface WorkerGauges {
  readonly running: number
  readonly waiting: number
  readonly concurrency: number
  readonly leases: number
  readonly renewalFailures: number
}

export class RunMetrics {
  readonly #byTask = new Map<string, TaskCounts>()

  ended(task: string, outcome: Outcome, ms: number): void {
    const counts = this.#countsOf(task)
    const word = wordOf(outcome)
    counts.byOutcome.set(word, (counts.byOutcome.get(word) ?? 0) + 1)
    counts.count += 1
    counts.seconds += ms / 1000
    for (const [place, bound] of bounds.entries()) if (ms <= bound * 1000) counts.within[place]! += 1
  }

  text(worker: string, gauges: WorkerGauges): string {
    const own = { worker }
    const tasks = [...this.#byTask]
    return [
      ...family('ff_worker_running', 'gauge', 'Runs in a slot.', [['', own, gauges.running]]),
      ...family('ff_worker_waiting', 'gauge', 'Claimed executions without a slot.', [['', own, gauges.waiting]]),
      ...family('ff_worker_concurrency', 'gauge', 'Slots.', [['', own, gauges.concurrency]]),
      ...family('ff_worker_leases', 'gauge', 'Leases that the worker holds.', [['', own, gauges.leases]]),
      ...family('ff_worker_renewal_failures', 'gauge', 'Renewals of leases that failed in a row.', [
        ['', own, gauges.renewalFailures],
      ]),
      ...family(
        'ff_worker_runs_total',
        'counter',
        'Runs, by how they ended.',
        tasks.flatMap(([task, { byOutcome }]) =>
          [...byOutcome].map(([outcome, count]): Sample => ['', { ...own, task, outcome }, count]),
        ),
      ),
      ...family(
        'ff_worker_run_duration_seconds',
        'histogram',
        'How long runs took.',
        tasks.flatMap(([task, counts]) => histogram({ ...own, task }, counts)),
      ),
      '',
    ].join('\n')
  }

  #countsOf(task: string): TaskCounts {
    const known = this.#byTask.get(task)
    if (known !== undefined) return known
    const made = { byOutcome: new Map<string, number>(), within: bounds.map(() => 0), count: 0, seconds: 0 }
    this.#byTask.set(task, made)
    return made
  }
}

const words = {
  returned: 'completed',
  threw: 'failed',
  retry: 'retried',
  cancel: 'cancelled',
  restart: 'restarted',
} as const

function wordOf(outcome: Outcome): string {
  return outcome.kind === 'left' ? outcome.how : words[outcome.kind]
}

type MetricLabels = Readonly<Record<string, string>>
type Sample = readonly [suffix: string, labels: MetricLabels, value: number]

function histogram(labels: MetricLabels, { within, count, seconds }: TaskCounts): Sample[] {
  return [
    ...bounds.map((bound, place): Sample => ['_bucket', { ...labels, le: String(bound) }, within[place]!]),
    ['_bucket', { ...labels, le: '+Inf' }, count],
    ['_sum', labels, seconds],
    ['_count', labels, count],
  ]
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string[] {
  const lines = samples.map(([suffix, labels, value]) => `${name}${suffix}{${labelsText(labels)}} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}

function labelsText(labels: MetricLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
