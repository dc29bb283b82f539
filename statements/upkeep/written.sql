-- Made by `npm run sql`; do not edit.
-- upkeep.written
-- src/engine/duties/embedded-upkeep.ts: readWritten
-- 2 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   position int8
--   since_checkpoint int8

select (pg_current_wal_lsn() - '0/0')::int8 as position, (pg_current_wal_lsn() - redo_lsn)::int8 as since_checkpoint
from pg_control_checkpoint()
