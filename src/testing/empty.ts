// Empties a used database. That takes a few milliseconds and keeps statements prepared.

/** Both pg's client and PGlite implement it. */
export interface Connection {
  query(text: string): Promise<{ rows: unknown[] }>
}

// Deleting creates no files, unlike truncating. A large table is truncated, so that its dead rows do not slow down
// later tests.
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

// The ledger of migrations belongs to the schema, not to the contents.
export const tables = `
  select oid::regclass as name
  from pg_class
  where relnamespace = 'flowfabric'::regnamespace
    and relkind in ('r', 'p')
    and not relispartition
    and relname <> 'ff_migration'`
