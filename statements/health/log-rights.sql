-- Made by `npm run sql`; do not edit.
-- health.log-rights
-- src/engine/health/log-blocks.ts: readRights
-- 7 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   role text
--   may_make bool
--   may_drop bool

select current_user::text as role,
  has_function_privilege(make.oid, 'execute') and pg_has_role(make.proowner, log.relowner, 'usage') as may_make,
  has_function_privilege(drop.oid, 'execute') and pg_has_role(drop.proowner, log.relowner, 'usage') as may_drop
from pg_class log
join pg_proc make on make.oid = 'flowfabric.ff_make_event_block(bigint, bigint)'::regprocedure
join pg_proc drop on drop.oid = 'flowfabric.ff_drop_event_block(bigint)'::regprocedure
where log.oid = 'flowfabric.ff_event'::regclass
