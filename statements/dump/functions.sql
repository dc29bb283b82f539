-- Made by `npm run sql`; do not edit.
-- dump.functions
-- src/sql/dump-catalogue.ts: functionsStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   definition text
--   withheld text or null

select pg_get_functiondef(p.oid) as definition,
  case when p.proacl is not null and not exists (select from aclexplode(p.proacl) a where a.grantee = 0)
      then format('revoke execute on function %s from public', p.oid::regprocedure) end as withheld
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1
  and p.prokind in ('f', 'p')
order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"
