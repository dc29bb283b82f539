import { expect, test } from 'vitest'
import { splitStatements } from '../../src/sql/split-statements.ts'

test('a script is cut at the ends of its statements', () => {
  expect(splitStatements('select 1;\nselect 2;\n')).toEqual(['select 1', 'select 2'])
})

test.each([
  `select 'a;b''c;'`,
  'select "odd;name"',
  'select 1 -- not here;\n + 1',
  'select 1 /* nor; here */',
  'do $$ begin perform 1; end $$',
  'do $body$ begin perform $$;$$; end $body$',
  'select $1 + 1',
])('%s is one statement', (text) => {
  expect(splitStatements(`${text};`)).toEqual([text])
  expect(splitStatements(`select 0; ${text}; select 9`)).toEqual(['select 0', text, 'select 9'])
})

test('a text of spaces and comments contains no statement', () => {
  expect(splitStatements(' ; -- nothing\n ; /* ; */ ;')).toEqual([])
})
