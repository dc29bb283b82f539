// A producer and a worker on one database for minutes, with default autovacuum and a transaction that stays open in the
// middle. The cost of an execution must stay the same throughout. It is measured as processor time, so that it can be
// compared on a shared machine.
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { startChild } from '../child.ts'
import { median } from '../median.ts'
import { inUnit } from '../report/unit.ts'
import type { Bar, Bench, Ratio, ReportRow, Scenario } from '../scenario.ts'
import { ProcessorTime } from '../soak/processor-time.ts'
import type { ProducerOrder, SoakInput } from '../soak/producer.child.ts'

const sampleMs = 10_000
const relayMs = 50
/** Shares of the whole time: 80 s of 250, from second 90 on. */
const heldFrom = 0.36
const heldUntil = 0.68

const outsideBar: Bar = { direction: 'at most', must: 1.3 }
const heldBar: Bar = { direction: 'at most', must: 1.5 }

interface Sample {
  readonly endMs: number
  readonly isHeld: boolean
  readonly perSecond: number
  /** Microseconds of processor time for each execution. */
  readonly postgres: number
  readonly node: number
  /** Of the server's other processes: checkpoints and the log. A vacuum has mostly ended before the sample has. */
  readonly upkeep: number
}

export const soak: Scenario = {
  name: 'soak',
  title:
    'processor time of an execution while a producer and a worker run for minutes, and while a transaction is held open',
  async run(bench) {
    const samples = await measure(bench)
    // The first is that of cold processes.
    const warm = samples.slice(1)
    const outside = warm.filter(({ isHeld }) => !isHeld)
    const middle = median(outside.map(costOf))
    const usual = outside.toSorted((a, b) => Math.abs(costOf(a) - middle) - Math.abs(costOf(b) - middle))[0]!
    return {
      name: this.name,
      title: this.title,
      unit: 'us',
      baseline: 'median',
      rows: [
        { ...rowOf('median', usual), value: middle, ratios: [{ to: 'median', value: 1, range: [1, 1] }] },
        compared('worst 10 s', worstOf(outside), middle, outsideBar),
        compared(
          'worst 10 s while a transaction is held',
          worstOf(warm.filter(({ isHeld }) => isHeld)),
          middle,
          heldBar,
        ),
      ],
      notes: [
        `${bench.settings.seconds} s; sets of 500, at most 5,000 open; ff.submitMany and ff.worker without options; samples of 10 s, without the first; the median is of those without a held transaction`,
        `Postgres is the time of the connections; checkpoints and the log take ${inUnit(median(warm.map(({ upkeep }) => upkeep)), 'us')} more (median)`,
        `in turn: ${samples.map((sample) => `${Math.round(costOf(sample))}${sample.isHeld ? ' (held)' : ''}`).join(', ')}`,
      ],
    }
  },
}

function costOf({ postgres, node }: Sample): number {
  return postgres + node
}

function worstOf(samples: readonly Sample[]): Sample {
  return samples.toSorted((a, b) => costOf(b) - costOf(a))[0]!
}

function rowOf(label: string, sample: Sample): Omit<ReportRow, 'ratios'> {
  const { postgres, node, perSecond } = sample
  return { label, value: costOf(sample), figures: { Postgres: postgres, Node: node }, perSecond }
}

function compared(label: string, sample: Sample, middle: number, bar: Bar): ReportRow {
  const value = costOf(sample) / middle
  const ratio: Ratio = { to: 'median', value, range: [value, value], bar }
  return { ...rowOf(label, sample), ratios: [ratio] }
}

async function measure(bench: Bench): Promise<Sample[]> {
  const database = await bench.server.createDatabase()
  const input: SoakInput = { url: database.url }
  // The producer first: it creates the tables.
  const producer = await startChild<number, ProducerOrder>(
    bench.node,
    new URL('../soak/producer.child.ts', import.meta.url),
    input,
  )
  const worker = await startChild<number>(bench.node, new URL('../soak/worker.child.ts', import.meta.url), input)
  const observer = new pg.Client({ connectionString: database.url })
  await observer.connect()
  const spent = { postgres: new ProcessorTime(), node: new ProcessorTime(), upkeep: new ProcessorTime() }
  const totalMs = bench.settings.seconds * 1000
  const samples: Sample[] = []
  let holder: pg.Client | null = null
  let handledBefore = 0

  await readAll()
  const startedAt = performance.now()
  for (let endMs = sampleMs; endMs <= totalMs; endMs += sampleMs) {
    const isHeld = endMs > heldFrom * totalMs && endMs <= heldUntil * totalMs
    if (isHeld) holder ??= await holdTransaction(database.url)
    if (!isHeld) {
      await holder?.end()
      holder = null
    }
    while (performance.now() - startedAt < endMs) {
      await producer.tell({ handled: await worker.tell('go') })
      await setTimeout(relayMs)
    }
    samples.push(await readSample(endMs, isHeld))
    bench.say(lineOf(samples.at(-1)!))
  }

  await holder?.end()
  const submitted = await producer.tell({ handled: null })
  while ((await worker.tell('go')) < submitted) await setTimeout(relayMs)
  await refuseUnended(observer, submitted)
  await observer.end()
  await worker.end()
  await producer.end()
  await database.drop()
  return samples

  async function readSample(endMs: number, isHeld: boolean): Promise<Sample> {
    const handled = await worker.tell('go')
    const used = await readAll()
    const count = handled - handledBefore
    handledBefore = handled
    return {
      endMs,
      isHeld,
      perSecond: (count * 1000) / sampleMs,
      postgres: used.postgres / count,
      node: used.node / count,
      upkeep: used.upkeep / count,
    }
  }

  async function readAll() {
    const { rows } = await observer.query<{ pid: number; is_ours: boolean }>(
      `select pid, coalesce(backend_type = 'client backend' and datname = current_database(), false) as is_ours
       from pg_stat_activity where pid <> pg_backend_pid()`,
    )
    const pidsOf = (isOurs: boolean) => rows.filter((row) => row.is_ours === isOurs).map(({ pid }) => pid)
    return {
      postgres: await spent.postgres.since(pidsOf(true)),
      node: await spent.node.since([producer.pid, worker.pid]),
      upkeep: await spent.upkeep.since(pidsOf(false)),
    }
  }
}

/** With a snapshot and a transaction id, so that no row that dies from now on can be cleaned up. */
async function holdTransaction(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select pg_current_xact_id()')
  return client
}

async function refuseUnended(client: pg.Client, submitted: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from flowfabric.ff_exec_core where terminal_outcome = 'success'`,
    )
    if (Number(rows[0]!.count) === submitted) return
    await setTimeout(relayMs)
  }
  throw new Error(`not all of the ${submitted} executions have ended well`)
}

function lineOf({ endMs, isHeld, perSecond, postgres, node, upkeep }: Sample): string {
  const times = `Postgres ${inUnit(postgres, 'us')}, Node ${inUnit(node, 'us')}, upkeep ${inUnit(upkeep, 'us')}`
  return `${endMs / 1000} s: ${inUnit(perSecond, '/s')}, ${times}${isHeld ? ', held' : ''}`
}
