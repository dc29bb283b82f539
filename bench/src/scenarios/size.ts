// The disk space of half a million executions, for each of them: tables and indexes, next to those of a raw table. They
// run in parts. With retention, ended executions are deleted after each part, and the size must stay that of one part.
import { retention } from '../../../src/engine/duties/retention.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bench, ReportRow, Scenario } from '../scenario.ts'
import { measureSize, sumOf, vacuum } from '../size/measure-size.ts'
import type { Sizes } from '../size/measure-size.ts'
import { Traffic } from '../traffic/traffic.ts'

const partCount = 5

export const size: Scenario = {
  name: 'size',
  title: 'bytes on disk for each of half a million executions that went through',
  async run(bench) {
    const partSize = Math.floor(bench.settings.rows / 2 / partCount)
    const count = partSize * partCount
    const raw = await passThrough(bench, 'raw queue', partSize)
    const kept = await passThrough(bench, 'FlowFabric', partSize)
    bench.say('and with retention')
    const retained = await passThrough(bench, 'FlowFabric', partSize, removeEnded)
    const rowOf = (label: string, sizes: Sizes): ReportRow => {
      const { tables, indexes } = sumOf(sizes)
      const value = (tables + indexes) / count
      const ratio = (value * count) / (sumOf(raw).tables + sumOf(raw).indexes)
      return {
        label,
        value,
        figures: { tables: tables / count, indexes: indexes / count },
        ratios: [{ to: 'raw queue', value: ratio, range: [ratio, ratio] }],
      }
    }
    return {
      name: this.name,
      title: this.title,
      unit: 'bytes',
      baseline: 'raw queue',
      rows: [
        rowOf('raw queue', raw),
        rowOf('FlowFabric', kept),
        ...[...kept]
          .filter(([, { tables }]) => tables > count)
          .map(([table, own]) => rowOf(`  ${table}`, new Map([[table, own]]))),
        rowOf('FlowFabric, with retention', retained),
      ],
      notes: ['with retention: what has ended is removed after each fifth; the log goes by its own, in whole blocks'],
    }
  },
}

async function passThrough(
  bench: Bench,
  name: PeerName,
  partSize: number,
  afterEach: (url: string) => Promise<void> = async () => {},
): Promise<Sizes> {
  bench.say(`${(partSize * partCount).toLocaleString('en')} go through ${name}`)
  const traffic = await Traffic.open(bench, name)
  for (let part = 0; part < partCount; part++) {
    await traffic.passThrough(partSize)
    await afterEach(traffic.url)
    await vacuum(traffic.url)
  }
  const sizes = await measureSize(traffic.url, name === 'FlowFabric' ? 'flowfabric' : 'public')
  await traffic.close()
  return sizes
}

async function removeEnded(url: string): Promise<void> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  for (;;) {
    const { isFull, errors } = await retention(0).runOnce(sql)
    if (errors > 0) throw new Error(`retention could not remove ${errors} executions`)
    if (!isFull) break
  }
  await sql.close()
}
