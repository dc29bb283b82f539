import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { catalogue } from './catalogue.ts'
import { findIds, findUnknown, measure, readMentions } from './coverage.ts'

const mentions = await readMentions(fileURLToPath(new URL('..', import.meta.url)))

test('the catalogue holds each id once', () => {
  const ids = catalogue.map((scenario) => scenario.id)
  expect(ids).toHaveLength(402)
  expect(new Set(ids).size).toBe(ids.length)
})

test('no test names a scenario that does not exist', () => {
  expect(findUnknown(mentions)).toEqual([])
})

test.each([
  'EXEC',
  'CLAIM',
  'LEASE',
  'ATT',
  'DELAY',
  'DEAD',
  'SUSP',
  'WPT',
  'SIG',
  'COMP',
  'TMO',
  'FLOW',
  'OPS',
  'SUB',
  'TAG',
  'RACE',
  'FAULT',
])('every %s scenario that is due has a test', (area) => {
  const found = measure(mentions).find((coverage) => coverage.area === area)
  expect(found?.missing.map((scenario) => scenario.id)).toEqual([])
})

// The samples are put together here, because this file is scanned as well.
const sample = (call: string, id: string) => `${call}('${id} something', () => {})`
const ids = (...digits: string[]) => digits.map((two) => `EXEC-${two}`)

test('an id counts in the name of a test, a group or a table of tests', () => {
  const [one = '', two = '', three = '', four = '', five = ''] = ids('01', '02', '03', '04', '05')
  const source = [
    sample('test', one),
    sample('describe', `${two}, ${three}`),
    sample('test.each([1])', four),
    sample('  it.concurrent', five),
  ]
  expect([...findIds(source.join('\n'))]).toEqual([one, two, three, four, five])
})

test('an id does not count in a comment, a skipped test or other text', () => {
  const [one = '', two = '', three = '', four = ''] = ids('01', '02', '03', '04')
  const source = [
    `// ${sample('test', one)}`,
    sample('test.skip', two),
    sample('test.todo', three),
    `const text = '${four}'`,
    sample('test', 'UTF-8 and SHA-256 are not ids, nor'),
  ]
  expect([...findIds(source.join('\n'))]).toEqual([])
})
