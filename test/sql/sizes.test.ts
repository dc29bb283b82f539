// No statement has more than 150 lines or 16 CTEs, so that one person can read it whole; `statements/` has them all. The lines are
// counted as scripts/sql/layout.ts lays them out: without comments and blank lines, and none longer than 140 characters. So the
// count does not depend on how a text is broken in its source.
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { layOut, longestLine } from '../../scripts/sql/layout.ts'
import { measure, type Size } from '../../scripts/sql/measure.ts'
import { engineStatements } from '../support/engine-statements.ts'

for (const folder of ['engine', 'sql']) {
  const source = new URL(`../../src/${folder}/`, import.meta.url)
  for (const file of await readdir(source, { recursive: true })) {
    if (file.endsWith('.ts')) await import(fileURLToPath(new URL(file, source)))
  }
}

const most: Size = { lines: 150, ctes: 16 }

// The statements that were larger when the rule was made. They may shrink and never grow, and none may be added.
const larger: Readonly<Record<string, Size>> = {}

test('no statement has more than 150 lines or 16 CTEs, but for a list that only shrinks', () => {
  expect(sizeFaults(sizesOf(engineStatements()), larger)).toEqual([])
})

test('a statement that has grown, is newly too large, or no longer needs its exception is a fault', () => {
  const listed = {
    'a.same': { lines: 200, ctes: 20 },
    'a.shorter': { lines: 200, ctes: 20 },
    'a.gone': { lines: 200, ctes: 20 },
  }
  const same = {
    'a.same': { lines: 200, ctes: 20 },
    'a.shorter': { lines: 160, ctes: 20 },
    'a.gone': { lines: 151, ctes: 1 },
  }
  expect(sizeFaults(same, listed)).toEqual([])
  expect(sizeFaults({ ...same, 'a.same': { lines: 201, ctes: 20 } }, listed)).toEqual([
    'a.same has 201 lines and 20 CTEs, at most 200 and 20 are allowed',
  ])
  expect(sizeFaults({ ...same, 'a.same': { lines: 200, ctes: 21 } }, listed)).toHaveLength(1)
  expect(sizeFaults({ ...same, 'a.new': { lines: 1, ctes: 17 } }, listed)).toEqual([
    'a.new has 1 lines and 17 CTEs, at most 150 and 16 are allowed',
  ])
  expect(sizeFaults({ ...same, 'a.gone': { lines: 150, ctes: 16 } }, listed)).toEqual([
    'a.gone is within the rule: remove it from the list',
  ])
  const { 'a.gone': _, ...without } = same
  expect(sizeFaults(without, listed)).toEqual(['a.gone is within the rule: remove it from the list'])
})

test('the layout changes only the whitespace of a statement, and leaves no line longer than 140 characters', () => {
  for (const { name, text } of engineStatements()) {
    const lines = layOut(text)
    expect(squeeze(lines.join('\n')), name).toBe(squeeze(text))
    const code = lines.filter((line) => !line.trim().startsWith('--'))
    expect(
      code.filter((line) => line.length > longestLine),
      name,
    ).toEqual([])
  }
})

function sizesOf(statements: ReturnType<typeof engineStatements>): Record<string, Size> {
  return Object.fromEntries(statements.map(({ name, text }) => [name, measure(text)]))
}

function sizeFaults(sizes: Readonly<Record<string, Size>>, listed: Readonly<Record<string, Size>>): string[] {
  const isWithin = (size: Size | undefined, bound: Size): boolean =>
    size === undefined || (size.lines <= bound.lines && size.ctes <= bound.ctes)
  const tooLarge = Object.entries(sizes).flatMap(([name, size]) => {
    const bound = listed[name] ?? most
    if (isWithin(size, bound)) return []
    return [
      `${name} has ${size.lines} lines and ${size.ctes} CTEs, at most ${bound.lines} and ${bound.ctes} are allowed`,
    ]
  })
  const needless = Object.keys(listed).filter((name) => isWithin(sizes[name], most))
  return [...tooLarge, ...needless.map((name) => `${name} is within the rule: remove it from the list`)]
}

/** Without comments and spaces, which have no meaning outside of strings; in a string both texts lose the same. */
function squeeze(text: string): string {
  return text.replace(/--[^\n]*/g, '').replace(/\s+/g, '')
}
