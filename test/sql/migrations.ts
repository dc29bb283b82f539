// Small migrations for the tests of the migrator.
import type { Migration } from '../../src/sql/migrations/migration.ts'

export const first: Migration = {
  version: 1,
  name: 'first',
  oldestCode: '1.0.0',
  transactional: true,
  text: `
create table flowfabric.ff_item (id bigint primary key, name text not null);
insert into flowfabric.ff_item select n, 'item ' || n from generate_series(1, 100) as given (n);`,
}

export const second: Migration = {
  version: 2,
  name: 'second',
  oldestCode: '1.2.0',
  transactional: true,
  text: `alter table flowfabric.ff_item add colour text not null default 'it''s; red';`,
}

const index: Migration = {
  version: 2,
  name: 'index',
  oldestCode: '1.0.0',
  transactional: false,
  text: `
-- Two statements; each bears repeating.
create index concurrently if not exists ff_item_name on flowfabric.ff_item (name);
create index concurrently if not exists ff_item_even on flowfabric.ff_item (id) where id % 2 = 0;`,
}

export const withIndex: readonly Migration[] = [first, index]
