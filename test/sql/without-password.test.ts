import { expect, test } from 'vitest'
import { withoutPassword } from '../../src/sql/without-password.ts'

test.each([
  ['postgres://ada:secret@host:5432/app', 'postgres://ada:***@host:5432/app'],
  ['postgres://ada@host:5432/app', 'postgres://ada@host:5432/app'],
  ['postgres://host:5432/app', 'postgres://host:5432/app'],
  ['postgres://:secret@host/app', 'postgres://:***@host/app'],
  ['postgres://ada:se:cr@et@host/app', 'postgres://ada:***@host/app'],
  ['postgres:ada:secret@host', 'postgres:ada:***@host'],
  ['postgres:secret@host', 'postgres:***@host'],
  ['ada:secret@host', 'ada:***@host'],
  ['postgres:///app?user=ada&password=secret&host=/run', 'postgres:///app?user=ada&password=***&host=/run'],
])('%s is shown as %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown)
})
