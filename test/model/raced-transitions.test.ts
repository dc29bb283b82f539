// The race tests try every operation of the table of transitions against the others.
import { access } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { publicState, type PublicState } from '../../src/model/state.ts'
import { transitions } from '../../src/model/transition.ts'
import { reachableVectors, transitionsFrom } from '../../src/model/transition-walk.ts'
import * as moves from '../races/moves.ts'

/** Operations that need more than one execution, or one that registered a compensation: other files race them. */
const racedElsewhere: Readonly<Record<string, string>> = {
  'ask-to-stop': 'compensation.test.ts',
  'children-ended': 'children.test.ts',
  depend: 'flow-graph.test.ts',
  skip: 'flow-pairs.test.ts',
}

test.each([
  ['held', ['active'], moves.movesOfHeld],
  ['ready', ['waiting', 'resumable'], moves.movesOfReady],
  ['delayed', ['delayed'], moves.movesOfDelayed],
  ['suspended', ['suspended'], moves.movesOfSuspended],
  ['ended', ['completed', 'failed', 'cancelled', 'expired', 'skipped'], moves.movesOfEnded],
] as const)('every operation on executions that are %s has a move', (_, states, found) => {
  const starts = reachableVectors().filter((vector) => (states as readonly PublicState[]).includes(publicState(vector)))
  const rows = starts.flatMap(transitionsFrom).filter(({ isPlanned = false }) => !isPlanned)
  const needed = new Set(rows.map(({ name }) => name).filter((name) => racedElsewhere[name] === undefined))
  const raced = new Set(found.flatMap(({ transition = null }) => transition ?? []))
  expect([...needed].filter((name) => !raced.has(name))).toEqual([])
  expect([...raced].filter((name) => !transitions.some((row) => row.name === name))).toEqual([])
})

test('the operations that other files race are in the table, and the files exist', async () => {
  for (const [name, file] of Object.entries(racedElsewhere)) {
    expect(
      transitions.some((row) => row.name === name),
      name,
    ).toBe(true)
    await access(new URL(`../races/${file}`, import.meta.url))
  }
})
