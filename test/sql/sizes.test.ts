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

test('no statement has more than 150 lines or 16 CTEs', () => {
  expect(tooLarge(engineStatements())).toEqual([])
})

test('a statement with one line or one CTE too many is reported', () => {
  const lines = (count: number) => ['select 1', ...Array.from({ length: count - 1 }, () => ', 1')].join('\n')
  const ctes = (count: number) =>
    `with ${Array.from({ length: count }, (_, no) => `c${no} as (select 1)`).join(', ')} select 1`
  expect(tooLarge([{ name: 'a', text: lines(most.lines) }])).toEqual([])
  expect(tooLarge([{ name: 'a', text: lines(most.lines + 1) }])).toHaveLength(1)
  expect(tooLarge([{ name: 'a', text: ctes(most.ctes) }])).toEqual([])
  expect(tooLarge([{ name: 'a', text: ctes(most.ctes + 1) }])).toHaveLength(1)
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

function tooLarge(statements: readonly { readonly name: string; readonly text: string }[]): string[] {
  return statements.flatMap(({ name, text }) => {
    const { lines, ctes } = measure(text)
    if (lines <= most.lines && ctes <= most.ctes) return []
    return [`${name} has ${lines} lines and ${ctes} CTEs, at most ${most.lines} and ${most.ctes} are allowed`]
  })
}

/** Without comments and spaces, which have no meaning outside of strings; in a string both texts lose the same. */
function squeeze(text: string): string {
  return text.replace(/--[^\n]*/g, '').replace(/\s+/g, '')
}
