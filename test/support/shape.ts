// A used database is emptied and reused: a new one takes hundreds of milliseconds (measured: three hundred files are created
// for each, and ext4 slows down when as many were just deleted). The shape shows whether a test changed the schema.

import { tables, type Connection } from '../../src/testing/empty.ts'

// Lower oids belong to the three thousand functions that every database has from the start.
const firstOfOurs = 16384

/** A fingerprint of everything that migrations create: relations, enums, functions with their text, the ledger. */
export async function readShape(connection: Connection): Promise<string> {
  return read(connection).catch((error: unknown) => `cannot be read: ${String(error)}`)
}

async function read(connection: Connection): Promise<string> {
  const { rows } = await connection.query(`
    with line (text) as (
      select concat_ws(' ', oid, relname, relkind, relnatts, relchecks, relispartition, relhastriggers)
      from pg_class
      where oid >= ${firstOfOurs} and relnamespace not in (select oid from pg_namespace where starts_with(nspname, 'pg_'))
      union all
      select concat_ws(' ', oid, proname, prosrc)
      from pg_proc
      where oid >= ${firstOfOurs} and pronamespace not in (select oid from pg_namespace where starts_with(nspname, 'pg_'))
      union all
      select concat_ws(' ', oid, enumlabel) from pg_enum
      union all
      select m::text from flowfabric.ff_migration as m
    )
    select md5(string_agg(text, chr(10) order by text)) as shape from line`)
  return (rows[0] as { shape: string }).shape
}

/** Refuses a schema with rows: emptying would lose them. */
export async function refuseSeeds(connection: Connection): Promise<void> {
  await connection.query(`
    do $$
    declare
      item record;
      is_filled boolean;
    begin
      for item in ${tables} loop
        execute format('select exists (select from %s)', item.name) into is_filled;
        if is_filled then
          raise exception 'a migration fills %, which emptying between tests would lose', item.name;
        end if;
      end loop;
    end $$`)
}
