-- Made by `npm run sql`; do not edit.
-- flow.upstream-results
-- src/engine/flow/upstream-results.ts: readUpstream
-- 29 lines, 1 CTE
--
-- parameters:
--   $1 execution_id uuid
--   $2 edge_id uuid
--   $3 wanted_names text[]
--   $4 limit int8
--   $5 most_bytes int8
-- columns:
--   edge_id uuid
--   name text
--   upstream_id uuid
--   kind text
--   resolution text
--   outcome text
--   result bytea or null
--   result_encoding text or null
--   page_count int8

with page as materialized (
  select x.edge_id, x.flow_id, x.upstream_id, x.kind, x.resolution, x.resolved_generation,
    coalesce(x.data_ref, m.member_name) as name
  from flowfabric.ff_edge x
  join flowfabric.ff_flow_member m on m.flow_id = any (array[x.flow_id]) and m.execution_id = any (array[x.upstream_id])
  where x.downstream_id = $1 and x.edge_id > $2 and x.kind <> 'start'
    and (cardinality($3::text[]) = 0 or coalesce(x.data_ref, m.member_name) = any ($3))
  order by x.edge_id
  limit $4
)
select edge_id, name, upstream_id, kind, resolution, outcome, result, result_encoding, page_count
from (
  select p.edge_id, p.name, p.upstream_id, p.kind, p.resolution,
    case
      when p.resolved_generation = e.generation then nullif(e.terminal_outcome, 'none')
      when p.resolution = 'satisfied' and (p.kind = 'success_only' or r.execution_id is not null)
        then 'success'::flowfabric.ff_terminal_outcome
    end as outcome,
    r.result, r.result_encoding,
    sum(coalesce(octet_length(r.result), 0)) over (order by p.edge_id) - coalesce(octet_length(r.result), 0)
    as bytes_before,
    count(*) over () as page_count
  from page p
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[p.upstream_id])
  left join flowfabric.ff_exec_result r
    on r.execution_id = any (array[p.upstream_id]) and r.generation = any (array[p.resolved_generation])
) one
where bytes_before < $5
order by edge_id
