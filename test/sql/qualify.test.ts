import { expect, test } from 'vitest'
import { checkSchema, qualifyText } from '../../src/sql/qualify.ts'

test('the default schema leaves a text unchanged', () => {
  const text = `select * from flowfabric.ff_item`
  expect(qualifyText(text, 'flowfabric')).toBe(text)
})

test('a name that would end the body of a function is refused', () => {
  expect(() => checkSchema('a$$b')).toThrow('schema "a$$b" must not contain $$')
  expect(() => checkSchema('$a$b$')).not.toThrow()
})

test('each qualifier becomes the quoted schema', () => {
  expect(qualifyText('select * from flowfabric.a join flowfabric.b', 'My "own"')).toBe(
    'select * from "My ""own""".a join "My ""own""".b',
  )
})

test('a quote in the name is doubled inside a string, and not outside of it', () => {
  const text = `select 'flowfabric.a'::regclass, flowfabric.f()`
  expect(qualifyText(text, `o'ne`)).toBe(`select '"o''ne".a'::regclass, "o'ne".f()`)
})

test.each([
  "-- do not touch flowfabric.a, nor read this quote: ' as a beginning",
  '/* flowfabric.a */ select 1',
  'select "flowfabric.a" from other',
  'select * from my_flowfabric.a',
  'select notflowfabric.a',
])('%s stays unchanged', (text) => {
  expect(qualifyText(text, 'other')).toBe(text)
})

test('a comment with an apostrophe does not hide the names after it', () => {
  expect(qualifyText(`-- it's\nselect flowfabric.f()`, 'other')).toBe(`-- it's\nselect "other".f()`)
})

test('a function body is read as code', () => {
  const text = `create function flowfabric.f() returns int language sql as $$ select count(*) from flowfabric.a $$`
  expect(qualifyText(text, 'other')).toBe(
    `create function "other".f() returns int language sql as $$ select count(*) from "other".a $$`,
  )
})
