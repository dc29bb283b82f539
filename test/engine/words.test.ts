// The migration repeats words and bounds of the model, because it is plain SQL. They are the same.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { cancelPolicies } from '../../src/engine/flow/cancel.ts'
import { onParentEnds } from '../../src/engine/transition/new-execution.ts'
import { edgeKinds, onSatisfiedWords } from '../../src/model/edge-group.ts'
import { eventKinds } from '../../src/model/event-kind.ts'
import { limits } from '../../src/model/limits.ts'
import { catchUps, overlaps } from '../../src/model/schedule.ts'
import { signalEffects, sourceTypes } from '../../src/model/signal.ts'
import {
  attemptStates,
  eligibilityStates,
  interruptions,
  lifecyclePhases,
  ownershipStates,
  publicStates,
  terminalOutcomes,
} from '../../src/model/state.ts'
import { recordedStates, stepKinds } from '../../src/model/step.ts'
import { suspensionReasons, timeoutBehaviours, waitpointStates } from '../../src/model/suspension.ts'
import { migrations } from '../../src/sql/migrations/all.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'

/** The stored lists of the model. `start` is the edge from the flow that a member stands for; no request names it. */
const lists = {
  ff_attempt_state: attemptStates,
  ff_cancel_policy: cancelPolicies,
  ff_edge_kind: [...edgeKinds, 'start'],
  ff_eligibility_state: eligibilityStates,
  ff_event_type: eventKinds,
  ff_interruption: interruptions,
  ff_lifecycle_phase: lifecyclePhases,
  ff_on_parent_end: onParentEnds,
  ff_on_satisfied: onSatisfiedWords,
  ff_ownership_state: ownershipStates,
  ff_public_state: publicStates,
  ff_schedule_catch_up: catchUps,
  ff_schedule_overlap: overlaps,
  ff_signal_effect: signalEffects,
  ff_source_type: sourceTypes,
  ff_step_kind: stepKinds,
  ff_step_state: recordedStates,
  ff_suspension_reason: suspensionReasons,
  ff_terminal_outcome: terminalOutcomes,
  ff_timeout_behavior: timeoutBehaviours,
  ff_waitpoint_state: waitpointStates,
} as const

/** Types whose words the model has as a type only, which the compiler compares with the code that reads them. */
const withoutList = ['ff_attempt_type', 'ff_edge_resolution', 'ff_group_state', 'ff_join_policy', 'ff_lane_state']

test('the enums of the schema have the words of the model, in its order', async () => {
  const { sql } = await setup()
  const found = await rows(
    sql,
    `select t.typname::text as name, array_agg(e.enumlabel::text order by e.enumsortorder) as words
     from pg_enum e
     join pg_type t on t.oid = e.enumtypid
     where t.typnamespace = 'flowfabric'::regnamespace
     group by t.typname
     order by t.typname`,
  )
  const words = Object.fromEntries(found.map((row) => [row['name'], row['words']]))
  expect(Object.keys(words)).toEqual([...Object.keys(lists), ...withoutList, 'ff_lease_effect'].toSorted())
  expect(words).toMatchObject(lists)
})

test('the bounds of a row are those of the model', async () => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k' })
  const store = (change: string) => sql.script(`update flowfabric.ff_exec_core set ${change}`)
  for (const [column, most] of [
    ['priority', limits.priorityMax],
    ['partition_key', limits.partitionCount - 1],
  ] as const) {
    await expect(store(`${column} = ${most + 1}`)).rejects.toMatchObject({ constraint: 'ff_exec_core_bounds' })
    await expect(store(`${column} = -1`)).rejects.toMatchObject({ constraint: 'ff_exec_core_bounds' })
    await store(`${column} = ${most}`)
  }
  await sql.script('truncate flowfabric.ff_exec_core, flowfabric.ff_exec_input, flowfabric.ff_ready')
})

test('the migrator runs the text of the .sql file', async () => {
  for (const { version, name, text } of migrations) {
    const file = `../../src/sql/migrations/${String(version).padStart(4, '0')}-${name}.sql`
    const written = await readFile(new URL(file, import.meta.url), 'utf8')
    expect(text === written.replaceAll('\r\n', '\n'), `${name} is current; else run npm run schema`).toBe(true)
  }
})
