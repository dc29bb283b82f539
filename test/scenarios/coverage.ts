// Which scenarios have a test. The ids are read from the names of the tests, so no list has to be maintained.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogue } from './catalogue.ts'
import type { Scenario } from './catalogue.ts'

type Standing = 'covered' | 'waiting' | 'void' | 'missing'

export interface AreaCoverage {
  readonly area: string
  readonly counts: Readonly<Record<Standing, number>>
  readonly missing: readonly Scenario[]
}

/** Ids found in test names, with the files that contain them. */
export type Mentions = ReadonlyMap<string, readonly string[]>

export async function readMentions(testFolder: string): Promise<Mentions> {
  const mentions = new Map<string, string[]>()
  const files = await readdir(testFolder, { recursive: true })
  for (const file of files.filter((name) => name.endsWith('.test.ts')).toSorted()) {
    const source = await readFile(path.join(testFolder, file), 'utf8')
    for (const id of findIds(source)) mentions.set(id, [...(mentions.get(id) ?? []), file])
  }
  return mentions
}

// A name is the first argument of test, it or describe, or of the result of their `each`. A skipped test proves nothing.
const testName = /(?:\b(?:test|it|describe)(?:\.(?!skip|todo)\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g
const idLike = /\b([A-Z]{3,5})-(\d+)\b/g
const areas = new Set(catalogue.map(areaOf))

export function findIds(source: string): Set<string> {
  const code = source.replaceAll(/^\s*\/\/.*$/gm, '')
  const names = [...code.matchAll(testName)].map((match) => match[2] ?? '')
  const found = names.flatMap((name) => [...name.matchAll(idLike)])
  // Two digits after a word of capitals are an id even if the word is unknown: it may be a typing error. UTF-8 is none.
  const ids = found.filter(([, area = '', digits = '']) => areas.has(area) || digits.length === 2)
  return new Set(ids.map(([id]) => id))
}

export function findUnknown(mentions: Mentions): string[] {
  const known = new Set(catalogue.map((scenario) => scenario.id))
  return [...mentions.keys()].filter((id) => !known.has(id))
}

export function measure(mentions: Mentions): AreaCoverage[] {
  return [...areas].map((area) => {
    const scenarios = catalogue.filter((scenario) => areaOf(scenario) === area)
    const counts: Record<Standing, number> = { covered: 0, waiting: 0, void: 0, missing: 0 }
    for (const scenario of scenarios) counts[standingOf(scenario, mentions)] += 1
    return { area, counts, missing: scenarios.filter((scenario) => standingOf(scenario, mentions) === 'missing') }
  })
}

function standingOf(scenario: Scenario, mentions: Mentions): Standing {
  if (scenario.status === 'void') return 'void'
  if (mentions.has(scenario.id)) return 'covered'
  return scenario.waitsFor === undefined ? 'missing' : 'waiting'
}

function areaOf(scenario: Scenario): string {
  return scenario.id.slice(0, scenario.id.indexOf('-'))
}
