import { expect, test } from 'vitest'
import { Printer, type Column } from '../../src/cli/print.ts'
import { cut, harmless, padTo, widthOf, wrap } from '../../src/cli/text.ts'
import { relative, span, timeCell } from '../../src/cli/time.ts'

interface Row {
  readonly name: string
  readonly why: string
}

const columns: Column<Row>[] = [
  { title: 'NAME', of: (row) => row.name, paint: (_, colours) => colours.red },
  { title: 'N', of: (row) => String(row.name.length), align: 'right' },
  { title: 'WHY', of: (row) => row.why, gives: true },
]

function printed(screen: { isTTY?: boolean; columns?: number }, env: Record<string, string>, rows: Row[]): string {
  let text = ''
  const printer = new Printer({ ...screen, write: (more) => (text += more) }, env)
  printer.table(columns, rows)
  return text
}

const rows = [
  { name: 'short', why: 'because of this and of that, and much more' },
  { name: 'a longer one', why: '' },
]

test('on a screen a table is aligned and cut to its width, in a pipe it is neither', () => {
  expect(printed({ isTTY: true, columns: 36 }, { NO_COLOR: '1' }, rows)).toBe(
    ['NAME          N   WHY', 'short         5   because of this a…', 'a longer one  12', '']
      .join('\n')
      .replace('N   WHY', ' N  WHY')
      .replace('5   because', ' 5  because'),
  )
  expect(printed({}, {}, rows)).toBe('short\t5\tbecause of this and of that, and much more\na longer one\t12\t\n')
})

test('colours are for a screen that supports them', () => {
  const red = '\u001b[31m'
  expect(printed({ isTTY: true, columns: 80 }, {}, rows)).toContain(red)
  expect(printed({ isTTY: true, columns: 80 }, { NO_COLOR: '1' }, rows)).not.toContain('\u001b')
  expect(printed({ isTTY: true, columns: 80 }, { TERM: 'dumb' }, rows)).not.toContain('\u001b')
  expect(printed({}, { FORCE_COLOR: '1' }, rows)).not.toContain('\u001b')
})

test('text of others cannot steer the terminal', () => {
  expect(harmless('a\u001b[2Jb\nc\u0007\u202e')).toBe(String.raw`a\u{1b}[2Jb\nc\u{7}\u{202e}`)
  const screen = printed({ isTTY: true, columns: 80 }, { NO_COLOR: '1' }, [{ name: '\u001b[2J', why: 'x\ty' }])
  expect(screen).not.toMatch(/[^\n -~]/)
  expect(printed({}, {}, [{ name: 'a\tb', why: 'c\nd' }])).toBe('a\\tb\t3\tc\\nd\n')
})

test('wide and invisible characters are measured as they are shown', () => {
  expect([
    widthOf('abc'),
    widthOf('日本'),
    widthOf('e\u0301'),
    widthOf('\u001b[31mred\u001b[39m'),
    widthOf('🚀'),
  ]).toEqual([3, 4, 1, 3, 2])
  expect(cut('日本語', 5)).toBe('日本…')
  expect(cut('abc', 3)).toBe('abc')
  expect(padTo('日', 4)).toBe('日  ')
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
})

test('times are printed in the two largest units', () => {
  expect([0, 999, 1200, 59_000, 65_000, 3_600_000, 90_061_000].map(span)).toEqual([
    '0ms',
    '999ms',
    '1.2s',
    '59s',
    '1m 5s',
    '1h',
    '1d 1h',
  ])
  expect([relative(1000, 61_000), relative(61_000, 1000), relative(1000, 1400)]).toEqual(['1m ago', 'in 1m', 'now'])
})

test('a time in a column is relative on a screen and an instant in a pipe, and empty when there is none', () => {
  const now = Date.parse('2026-11-02T12:00:00Z')
  const cell = (isTTY: boolean) => timeCell(new Printer({ isTTY, write: () => {} }, {}), now)
  expect([now - 185_000, null].map(cell(true))).toEqual(['3m 5s ago', ''])
  expect([now - 185_000, null].map(cell(false))).toEqual(['2026-11-02T11:56:55.000Z', ''])
})

test('a sentence with text of others is one line in a pipe, and forges no line on a screen', () => {
  const forged = 'Failed: broke\nerror: run this'
  const shown = (screen: { isTTY?: boolean; columns?: number }): string => {
    let text = ''
    new Printer({ ...screen, write: (more) => (text += more) }, {}).sentence(forged)
    return text
  }
  expect(shown({})).toBe('Failed: broke\\nerror: run this\n')
  expect(shown({ isTTY: true, columns: 80 })).toBe('Failed: broke\\nerror: run this\n')
})
