-- Made by `npm run sql`; do not edit.
-- dump.sequences
-- src/sql/dump-catalogue.ts: sequencesStatement
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text
--   options text

select format('%I.%I', n.nspname, c.relname) as name,
  format('as %s start %s increment %s minvalue %s maxvalue %s cache %s%s', format_type(s.seqtypid, null),
    s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when s.seqcycle then ' cycle' else '' end
  ) as options
from pg_sequence s
join pg_class c on c.oid = s.seqrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')
order by c.relname collate "C"
