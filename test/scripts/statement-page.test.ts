import { expect, test } from 'vitest'
import { marks } from '../../scripts/sql/fragments.ts'
import { pageOf } from '../../scripts/sql/page.ts'

const fragments = [
  { file: 'src/engine/thing/close.ts', name: 'closeThings' },
  { file: 'src/engine/thing/lock.ts', name: 'lockThings' },
  { file: 'src/engine/thing/small.ts', name: 'isOpen' },
  { file: 'src/engine/thing/close.ts', name: 'closed' },
]

function page(markedText: string): string[] {
  const text = markedText.replace(marks, '')
  const params = { ids: 'uuid[]', reasons: 'text?[]', actor: 'text?' } as const
  return pageOf({ name: 'thing.close', params, row: { id: 'uuid' }, text, markedText }, fragments).split('\n')
}

test('a page states the name, the source, the size, the parameters and the columns of its statement', () => {
  expect(page('/*<0*/select id from thing/*>0*/')).toEqual([
    '-- thing.close',
    '-- src/engine/thing/close.ts: closeThings',
    '-- 1 line, 0 CTEs',
    '--',
    '-- parameters:',
    '--   $1 ids uuid[]',
    '--   $2 reasons text[] with nulls',
    '--   $3 actor text or null',
    '-- columns:',
    '--   id uuid',
    '',
    'select id from thing',
    '',
  ])
})

test('fragments of other files have borders, also in the middle of a line; small ones and those of the same file have none', () => {
  const text = `/*<0*/
with/*<1*/
target as (
      select t.id
      from thing t
      where /*<2*/t.state = 'open'
        and t.id = any ($1)/*>2*/
)/*>1*/,/*<3*/
closed as (
  update thing t
  set state = 'closed', attached = t.attached & ~3
  from target
  where t.id = target.id
  returning t.id
)/*>3*/
select id, case when /*<1*/(
  select true
  from thing
)/*>1*/ then 1 end as one
from closed/*>0*/`
  expect(page(text).slice(11)).toEqual([
    'with',
    '-- from src/engine/thing/lock.ts: lockThings',
    'target as (',
    '  select t.id',
    '  from thing t',
    "  where t.state = 'open'",
    '    and t.id = any ($1)',
    '),',
    '-- end of lockThings',
    'closed as (',
    '  update thing t',
    "  set state = 'closed', attached = t.attached & ~3 /* waitpoints | suspension */",
    '  from target',
    '  where t.id = target.id',
    '  returning t.id',
    ')',
    '-- from src/engine/thing/lock.ts: lockThings',
    'select id, case when (',
    '  select true',
    '  from thing',
    ') then 1 end as one',
    '-- end of lockThings',
    'from closed',
    '',
  ])
})

test('a bit without a name is refused', () => {
  expect(() => page('/*<0*/select attached & 1048577 from thing/*>0*/')).toThrow('some bits of 1048577 have no name')
})

test('a long line is broken where it is inside the fewest brackets, and its remainder joins the list after it', () => {
  const names = (prefix: string, count: number): string =>
    Array.from({ length: count }, (_, at) => `${prefix}_${at + 10}`).join(', ')
  expect(
    page(`/*<0*/select ${names('first', 12)}, coalesce(${names('second', 4)}),\n  third\nfrom thing/*>0*/`).slice(11),
  ).toEqual([`select ${names('first', 12)},`, `  coalesce(${names('second', 4)}), third`, 'from thing', ''])
})
