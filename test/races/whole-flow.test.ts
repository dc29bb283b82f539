// Statements that work on a whole flow may take longer than others. Otherwise a large flow could never be submitted, or
// never end.
import { expect, onTestFinished, test } from 'vitest'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import type { Sql } from '../../src/sql/sql.ts'
import * as stored from '../support/stored.ts'

/** Each write of a flow uses the limit of its statement. */
async function watchLimits(sql: Sql): Promise<void> {
  await sql.script(`
create table public.seen (change text, statement_timeout text);
create function public.watch() returns trigger language plpgsql as $$
begin
  insert into public.seen values (case when tg_op = 'INSERT' then 'submitted'
    when new.cancelled_at_ms is not null and old.cancelled_at_ms is null then 'asked to stop'
    when new.closed_at_ms is not null and old.closed_at_ms is null then 'closed'
    when new.outcome <> old.outcome then new.outcome::text end, current_setting('statement_timeout'));
  return null;
end $$;
create trigger watch after insert or update on ${stored.flows.qualified} for each row execute function public.watch()`)
  onTestFinished(() => sql.script('drop function public.watch cascade; drop table public.seen'))
}

async function limitsOf(sql: Sql, change: string): Promise<unknown[]> {
  const seen = await rows(sql, `select statement_timeout from public.seen where change = '${change}'`)
  return seen.map((row) => row['statement_timeout'])
}

const named = (name: string) => ({ name, kind: name })

test('a large graph may take a minute to submit, and a small one costs no further statement', async () => {
  const { engine, sql } = await setup()
  await watchLimits(sql)
  await engine.flows.submitGraph({ kind: 'small', members: [named('a')] })
  await engine.flows.submitGraph({ kind: 'large', members: Array.from({ length: 1001 }, (_, i) => named(`m${i}`)) })
  expect(await limitsOf(sql, 'submitted')).toEqual(['7s', '1min'])
})

test('a flow may take a minute to end after a member failed, to close, to be cancelled and to be replayed', async () => {
  const { engine, sql, dispatched } = await setup()
  await watchLimits(sql)
  const edges = [{ upstream: 'a', downstream: 'b' }]
  const { members } = await engine.flows.submitGraph({ kind: 'f', members: [named('a'), named('b')], edges })
  await engine.executions.cancel({ executionId: members['a']! })
  await dispatched()
  expect(await limitsOf(sql, 'failed')).toEqual(['1min'])
  await engine.executions.replay({ executionId: members['a']! })
  expect(await limitsOf(sql, 'none')).toEqual(['1min'])
  const open = await engine.flows.submitGraph({ kind: 'f', members: [named('c')], stayOpen: true })
  await engine.flows.close({ flowId: open.flowId })
  expect(await limitsOf(sql, 'closed')).toEqual(['1min'])
  await engine.flows.cancel({ flowId: open.flowId, policy: 'cancel_all' })
  expect(await limitsOf(sql, 'asked to stop')).toEqual(['1min'])
})
