import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { connect } from '../../src/connect/connect.ts'
import { createApp } from '../../src/server/app.ts'
import { read } from './as-written.ts'

interface Metric {
  readonly labels: readonly string[]
}

/** The metrics of a server, by name. */
async function shown(): Promise<ReadonlySet<string>> {
  const ff = await connect('memory:')
  onTestFinished(() => ff.close())
  const app = createApp(ff.engine, { authenticate: null })
  const text = await (await app.fetch(new Request('http://localhost/metrics'))).text()
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(types.flatMap(([, name, type]) => (type === 'histogram' ? [name!, `${name}_bucket`] : [name!])))
}

/** The labels that docs/metrics.md gives each metric. */
async function documented(): Promise<ReadonlyMap<string, Metric>> {
  const rows = [
    ...(await read('docs/metrics.md')).matchAll(/^\| (`ff_[^|]+) \| (?:gauge|counter|histogram) \| ([^|]*)\|/gm),
  ]
  return new Map(
    rows.flatMap(([, names, labels]) =>
      [...names!.matchAll(/`(ff_\w+)`/g)].map(([, name]) => [
        name!,
        { labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!) },
      ]),
    ),
  )
}

const always = ['job', 'instance', 'le']

async function expectKnown(expressions: readonly string[]): Promise<void> {
  const [names, metrics] = [await shown(), await documented()]
  for (const expression of expressions) {
    const used = new Set(expression.match(/\bff_\w+/g))
    const labels = [...used].flatMap((name) => metrics.get(name.replace(/_bucket$/, ''))?.labels ?? [])
    const grouped = [...expression.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list]) => list!.split(', '))
    const matched = [...expression.matchAll(/[{,](\w+)(?:=|!)/g)].map(([, label]) => label!)
    expect([...used].filter((name) => !names.has(name))).toEqual([])
    expect([...grouped, ...matched].filter((label) => ![...labels, ...always].includes(label))).toEqual([])
  }
}

test('every metric and label of the dashboard exists', async () => {
  const board = JSON.parse(await read('deploy/grafana/flowfabric.json'))
  expect(board).toMatchObject({ uid: 'flowfabric', title: 'FlowFabric', schemaVersion: 39 })
  type Panel = { readonly id: number; readonly targets?: readonly { readonly expr: string }[] }
  const panels: readonly Panel[] = board.panels
  expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length)
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  expect(expressions.length).toBeGreaterThan(20)
  await expectKnown(expressions)
  const queried: string[] = board.templating.list.map((each: { definition?: string }) => each.definition ?? '')
  await expectKnown(queried.map((each) => each.replace(/label_values\((\w+), (\w+)\)/, 'sum by ($2) ($1)')))
})

test('every metric and label of the alerts exists', async () => {
  const { groups } = parse(await read('deploy/prometheus/alerts.yml'))
  const rules: { expr: string; annotations: { summary: string } }[] = groups[0].rules
  expect(rules.length).toBeGreaterThan(3)
  await expectKnown(rules.map((rule) => rule.expr))
  for (const { expr, annotations } of rules) {
    const usedLabels = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!)
    const kept = expr.startsWith('up{') ? always : /by \(([^)]+)\)/.exec(expr)![1]!.split(', ')
    for (const label of usedLabels) expect(kept).toContain(label)
  }
})
