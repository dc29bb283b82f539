// Records every change of a state vector that a database makes, so that a test can compare them with the table of the model.
import { onTestFinished } from 'vitest'
import type { StateVector } from '../../src/model/state.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { rows } from './raw.ts'

export interface VectorChange {
  readonly from: StateVector
  readonly to: StateVector
}

const vectorOf = (row: string): string => `jsonb_build_object(
  'lifecyclePhase', ${row}.lifecycle_phase, 'ownershipState', ${row}.ownership_state,
  'eligibilityState', ${row}.eligibility_state, 'attemptState', ${row}.attempt_state,
  'terminalOutcome', ${row}.terminal_outcome, 'interruption', ${row}.interruption)`

// Without a key, so that two transactions that record the same change do not wait for each other.
const install = `
create schema watched;
create table watched.change ("from" jsonb not null, "to" jsonb not null);
create function watched.record_changes() returns trigger language plpgsql as $$
begin
  insert into watched.change
  select ${vectorOf('o')}, ${vectorOf('n')}
  from old_rows o
  join new_rows n using (execution_id)
  where ${vectorOf('o')} <> ${vectorOf('n')};
  return null;
end
$$;
create trigger watched_changes after update on flowfabric.ff_exec_core
  referencing old table as old_rows new table as new_rows
  for each statement execute function watched.record_changes();`

const remove = 'drop trigger watched_changes on flowfabric.ff_exec_core; drop schema watched cascade'

export interface VectorChanges {
  /** Each change once. */
  (): Promise<VectorChange[]>
  forget(): Promise<void>
}

/** Watches until the test ends. Call it after `setup`, with the handle of the schema's owner. */
export async function watchVectors(owner: Sql): Promise<VectorChanges> {
  await owner.script(install)
  onTestFinished(() => owner.script(remove))
  const changes = async () =>
    (await rows(owner, 'select distinct "from", "to" from watched.change')) as unknown as VectorChange[]
  return Object.assign(changes, { forget: () => owner.script('truncate watched.change') })
}
