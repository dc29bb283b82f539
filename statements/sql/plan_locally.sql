-- Made by `npm run sql`; do not edit.
-- sql.plan_locally
-- src/sql/plan-settings.ts: planLocally
-- 5 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   done bool

select set_config('jit', 'off', true) is not null and set_config('max_parallel_workers_per_gather', '0', true) is not null
  and set_config('plan_cache_mode', 'force_generic_plan', true) is not null and set_config('enable_seqscan', 'off', true) is not null
  and set_config('enable_bitmapscan', 'off', true) is not null and set_config('enable_indexonlyscan', 'off', true) is not null
  and set_config('enable_hashjoin', 'off', true) is not null and set_config('enable_mergejoin', 'off', true) is not null
  and set_config('enable_material', 'off', true) is not null as done
