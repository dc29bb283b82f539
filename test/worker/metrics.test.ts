import { expect, test } from 'vitest'
import { PermanentError, task } from '../../src/index.ts'
import { working } from './working.ts'

/** By the name and labels of each sample. Refuses a line that Prometheus would refuse. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  expect(text.endsWith('\n')).toBe(true)
  const samples = new Map<string, number>()
  let family = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, name] = /^# TYPE (\w+) (?:gauge|counter|histogram)$/.exec(line) ?? []
    family = name ?? family
    if (line.startsWith('# ')) continue
    const [, sample, value] = /^(\w+\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*\}) (\S+)$/.exec(line) ?? []
    expect(sample, line).toMatch(new RegExp(`^${family}(_bucket|_sum|_count)?\\{`))
    expect(samples.has(sample!), line).toBe(false)
    samples.set(sample!, Number(value))
  }
  return samples
}

test('a worker counts its runs by task and ending, and shows its slots while they run', async () => {
  let during = ''
  const good = task('good', async () => (during = worker.metrics()))
  const bad = task('bad', async () => {
    throw new PermanentError('no')
  })
  const waits = task('waits', (ctx) => ctx.waitFor('go'))
  const quits = task('quits', (ctx) => ctx.cancel('enough'))
  const { worker, submit, runAll } = await working([good, bad, waits, quits], { name: 'the "first"', concurrency: 3 })
  expect(samplesOf(worker.metrics()).get('ff_worker_running{worker="the \\"first\\""}')).toBe(0)

  await submit(good)
  await runAll()
  const busy = samplesOf(during)
  for (const [name, value] of [
    ['running', 1],
    ['waiting', 0],
    ['concurrency', 3],
    ['leases', 1],
    ['renewal_failures', 0],
  ] as const) {
    expect(busy.get(`ff_worker_${name}{worker="the \\"first\\""}`), name).toBe(value)
  }

  await submit(good)
  await submit(bad)
  const waiting = await submit(waits)
  await submit(quits)
  await runAll()
  await waiting.signal('go')
  await runAll()
  const samples = samplesOf(worker.metrics())
  const runs = [...samples].filter(([sample]) => sample.startsWith('ff_worker_runs_total'))
  const of = (kind: string, outcome: string): string =>
    `ff_worker_runs_total{worker="the \\"first\\"",task="${kind}",outcome="${outcome}"}`
  expect(Object.fromEntries(runs)).toEqual({
    [of('good', 'completed')]: 2,
    [of('bad', 'failed')]: 1,
    [of('waits', 'suspended')]: 1,
    [of('waits', 'completed')]: 1,
    [of('quits', 'cancelled')]: 1,
  })
  const took = (suffix: string, more = ''): number | undefined =>
    samples.get(`ff_worker_run_duration_seconds_${suffix}{worker="the \\"first\\"",task="waits"${more}}`)
  expect(took('count')).toBe(2)
  expect(took('bucket', ',le="+Inf"')).toBe(2)
  expect(took('sum')).toBeGreaterThan(0)
  const buckets = ['0.001', '0.025', '1', '60', '+Inf'].map((le) => took('bucket', `,le="${le}"`)!)
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  expect(samples.get('ff_worker_running{worker="the \\"first\\""}')).toBe(0)
})
