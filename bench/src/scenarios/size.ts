// What half a million executions leave on disk, for each of them: tables and indexes, beside those of a raw table. They go
// through in parts. With retention, what has ended goes after each part, and the size must stay that of one.
import type { Duty } from '../../../src/engine/reconcilers/duty.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'
import type { PeerName } from '../peers/peer.ts'
import type { Bench, Report, ReportRow, Scenario } from '../scenario.ts'
import { findRetention } from '../size/find-retention.ts'
import { measureSize, sumOf, vacuum } from '../size/measure-size.ts'
import type { Sizes } from '../size/measure-size.ts'
import { Traffic } from '../traffic/traffic.ts'

const partCount = 5
const batchSize = 20_000

export const size: Scenario = {
  name: 'size',
  title: 'bytes on disk for each of half a million executions that went through',
  async run(bench) {
    const count = bench.settings.rows / 2
    const raw = await passThrough(bench, 'raw queue', count, null)
    const kept = await passThrough(bench, 'FlowFabric', count, null)
    const retention = await findRetention()
    const retained = retention === null ? null : await passThrough(bench, 'FlowFabric', count, retention)
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
    const report: Report = {
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
        ...(retained === null ? [] : [rowOf('FlowFabric, with retention', retained)]),
      ],
      notes: [
        retention === null
          ? 'there is no retention yet'
          : `with retention: after each fifth, what has ended is removed; the log goes by its own retention, in whole blocks`,
      ],
    }
    return report
  },
}

async function passThrough(bench: Bench, name: PeerName, count: number, retention: Duty | null): Promise<Sizes> {
  bench.say(`${count.toLocaleString('en')} go through ${name}${retention === null ? '' : ', with retention'}`)
  const traffic = await Traffic.open(bench, name)
  await traffic.start()
  const partSize = count / partCount
  for (let part = 1; part <= partCount; part++) {
    for (let sent = 0; sent < partSize; sent += batchSize) {
      await traffic.submit({ act: 'load', count: Math.min(batchSize, partSize - sent) })
      await traffic.untilHandled((part - 1) * partSize + Math.min(partSize, sent + batchSize))
    }
    if (retention !== null) await removeEnded(traffic.url, retention)
    await vacuum(traffic.url)
  }
  await traffic.stop()
  const sizes = await measureSize(traffic.url, name === 'FlowFabric' ? 'flowfabric' : 'public')
  await traffic.close()
  return sizes
}

async function removeEnded(url: string, retention: Duty): Promise<void> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  for (;;) {
    const { isFull, errors } = await retention.runOnce(sql)
    if (errors > 0) throw new Error(`retention could not remove ${errors} executions`)
    if (!isFull) break
  }
  await sql.close()
}
