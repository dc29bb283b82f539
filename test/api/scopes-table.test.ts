import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../src/api/routes.ts'
import { scopes } from '../../src/model/api-key.ts'

const document = readFileSync(new URL('../../docs/deployment.md', import.meta.url), 'utf8')
const section = document.slice(
  document.indexOf('### Scopes'),
  document.indexOf('\n## ', document.indexOf('### Scopes')),
)
const rows = section.split('\n').map((line) => line.split('|').slice(1, -1))

test('the table of scopes in the documentation states the scopes of every operation', () => {
  const documented = rows
    .filter((cells) => cells.length === 2)
    .flatMap(([allowed, named]) => namesIn(named!).map((name) => [name, namesIn(allowed!).toSorted()] as const))
  const actual = operations.map(({ noun, verb, route }) => {
    return [noun === null ? verb : `${noun}.${verb}`, route.scopes.toSorted()] as const
  })
  expect(documented.length).toBe(actual.length)
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual))
})

test('the documentation states the purpose of each scope', () => {
  const described = rows.filter((cells) => cells.length === 3).flatMap(([scope]) => namesIn(scope!))
  expect(described).toEqual([...scopes])
})

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!)
}
