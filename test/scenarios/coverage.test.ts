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

test.each(['EXEC', 'TAG'])('every %s scenario that is due has a test', (area) => {
  const found = measure(mentions).find((coverage) => coverage.area === area)
  expect(found?.missing.map((scenario) => scenario.id)).toEqual([])
})

// The samples are put together here, because this file is scanned as well.
const sample = (call: string, name: string) => `${call}('${name}', () => {})`

test('an id counts in the name of a test, a group or a table of tests', () => {
  const source = [
    sample('test', 'EXEC-' + '01 one'),
    sample('describe', 'EXEC-' + '02, EXEC-' + '03 two'),
    sample('test.each([1])', 'EXEC-' + '04 three'),
    sample('  it.concurrent', 'EXEC-' + '05 four'),
  ]
  expect([...findIds(source.join('\n'))]).toEqual(['01', '02', '03', '04', '05'].map((digits) => `EXEC-${digits}`))
})

test('an id does not count in a comment, a skipped test or other text', () => {
  const source = [
    '// ' + sample('test', 'EXEC-' + '01 one'),
    sample('test.skip', 'EXEC-' + '02 two'),
    sample('test.todo', 'EXEC-' + '03 three'),
    "const text = 'EXEC-" + "04'",
    sample('test', 'UTF-8 and SHA-256 are not ids'),
  ]
  expect([...findIds(source.join('\n'))]).toEqual([])
})
