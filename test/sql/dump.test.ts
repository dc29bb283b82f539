// The dump of a schema is the same from every server, is complete, and can be run as a script.
import { expect, inject, test } from 'vitest'
import { dumpSchema } from '../../src/sql/dump.ts'
import { migrations } from '../../src/sql/migrations/all.ts'
import { migrate } from '../../src/sql/migrate.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { createDatabase } from '../support/database.ts'
import { startPostgres } from '../support/postgres.ts'

// One object of every kind that a migration might create.
const EVERYTHING = `
create schema flowfabric;
create type flowfabric.mood as enum ('it''s fine', 'bad', 'awful');
create function flowfabric.twice(n int) returns int language sql immutable as $$ select n * 2 $$;
create sequence flowfabric.counter as int start 5 increment 3 cache 7 cycle;
create table flowfabric.parent (
  id bigint generated always as identity primary key,
  name text collate "C" not null default 'none',
  mood flowfabric.mood not null default 'bad',
  doubled int generated always as (flowfabric.twice(3)) stored,
  tiny smallint check (tiny between 0 and 9),
  amount numeric(12, 3),
  body bytea,
  serial int not null default nextval('flowfabric.counter'),
  unique (name, mood)
) with (fillfactor = 70, toast.autovacuum_vacuum_scale_factor = 0.1);
alter table flowfabric.parent alter body set storage external;
create index "Odd name" on flowfabric.parent (lower(name), id desc) where mood <> 'awful';
create table flowfabric."child Table" (
  id uuid primary key,
  parent_id bigint not null references flowfabric.parent on delete cascade,
  tags text[] not null default '{}',
  "when" timestamptz(3)
);
create table flowfabric.log (id bigint not null, note text, constraint log_pkey primary key (id)) partition by range (id);
create index log_note on flowfabric.log (note);
create table flowfabric.log_1 partition of flowfabric.log for values from (minvalue) to (100);
create view flowfabric.alone as select id, upper(name) as name from flowfabric.parent where mood = 'bad';
create view flowfabric.aliased as select p.id from flowfabric.parent p where p.id > 1;
create view flowfabric.joined as
  select c.id, p.name from flowfabric."child Table" c join flowfabric.parent p on p.id = c.parent_id;
create function flowfabric.touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger touched before update on flowfabric.parent for each row execute function flowfabric.touch();
`

test('the dump is the same from the embedded database, Postgres 18 and Postgres 15', async () => {
  const real: string[] = []
  const everything: string[] = []
  await onEachServer(async (sql) => {
    await migrate(sql, migrations, { mode: true, codeVersion: '99.0.0' })
    real.push(await dumpSchema(sql))
    await sql.script('drop schema flowfabric cascade')
    await sql.script(EVERYTHING)
    everything.push(await dumpSchema(sql))
    if (sql.kind === 'postgres') return
    // Run as a script without the schema, the dump creates the schema that it came from.
    await sql.script('drop schema flowfabric cascade')
    await sql.script(everything[0] ?? '')
    everything.push(await dumpSchema(sql))
  })
  expect(real).toEqual([real[0], real[0], real[0]])
  const [dumped, ...others] = everything
  expect(others).toEqual([dumped, dumped, dumped])
  expect(dumped).toMatchSnapshot()
})

async function onEachServer(work: (sql: Sql) => Promise<void>): Promise<void> {
  const embedded = await openEmbedded({ directory: null, schema: 'flowfabric' })
  await work(embedded)
  await embedded.close()

  const old = await startPostgres({ version: 15 })
  for (const server of [inject('postgres').url, old.url]) {
    const database = await createDatabase(server)
    const sql = await openPostgres({ url: database.url, schema: 'flowfabric' })
    await work(sql)
    await sql.close()
    await database.drop()
  }
  await old.stop()
}
