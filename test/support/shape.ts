// Makes a used database as good as new. Emptying a migrated one takes a few milliseconds and leaves statements prepared;
// a new one takes hundreds (measured: three hundred files are made for each, and ext4 slows down when as many were just
// deleted). A test that changed the schema is noticed by its shape.

/** pg's client and PGlite both are one. */
export interface Connection {
  query(text: string): Promise<{ rows: unknown[] }>
}

/** A fingerprint of everything that migrations make: relations, enums, functions with their text. */
export async function readShape(connection: Connection): Promise<string> {
  const { rows } = await connection.query(`
    with line (text) as (
      select concat_ws(' ', oid, relname, relkind, relnatts, relchecks, relispartition, relhastriggers)
      from pg_class
      where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      union all
      select concat_ws(' ', oid, proname, prosrc) from pg_proc where pronamespace::regnamespace::text !~ '^(pg_|information_schema)'
      union all
      select concat_ws(' ', oid, enumlabel) from pg_enum
    )
    select md5(string_agg(text, chr(10) order by text)) as shape from line`)
  return (rows[0] as { shape: string }).shape
}

// Deleting makes no files, unlike truncating; a large table is worth them, lest its dead rows slow down the next tests.
export async function empty(connection: Connection): Promise<void> {
  await connection.query(`
    do $$
    declare
      item record;
      deleted bigint;
    begin
      set local lock_timeout = '5s';
      set local session_replication_role = replica;
      for item in ${tables} loop
        execute format('delete from %s', item.name);
        get diagnostics deleted = row_count;
        if deleted > 1000 then
          execute format('truncate %s', item.name);
        end if;
      end loop;
      perform setval(s.seqrelid::regclass, s.seqstart, false)
      from pg_sequence as s
      join pg_class as c on c.oid = s.seqrelid
      where c.relnamespace = 'flowfabric'::regnamespace;
    end $$`)
}

/** Refuses a schema that comes with rows: emptying would lose them. */
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

// The ledger of migrations is part of the shape, not of the contents.
const tables = `
  select oid::regclass as name
  from pg_class
  where relnamespace = 'flowfabric'::regnamespace
    and relkind in ('r', 'p')
    and not relispartition
    and relname <> 'ff_migration'`
