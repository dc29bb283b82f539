// Writes docs/internals/states.md: the states of an execution and every way from one to another, from
// src/model/state.ts and src/model/transition.ts. With --check it writes nothing, and fails when the file is not up to
// date.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { isEnded, publicState, publicStates, type PublicState, type StateVector } from '../src/model/state.ts'
import { births, transitions } from '../src/model/transition.ts'
import { apply, reachableVectors, transitionsFrom } from '../src/model/transition-walk.ts'
import type { Transition } from '../src/model/transition.ts'

const FILE = new URL('../docs/internals/states.md', import.meta.url)
const vectors = reachableVectors()
const openStates = publicStates.filter((state) => !isEnded(state))
const endedStates = publicStates.filter(isEnded)
const boxNames: Readonly<Record<string, string>> = { live: 'any that has not ended', over: 'any that has ended' }

const current = `# States of an execution

<!-- Made from src/model/state.ts and src/model/transition.ts by npm run states; do not edit. -->

The row of an execution holds six words, its state vector: phase, ownership, eligibility, attempt, outcome and interruption. Lists and
the API show the public state, which the database computes from the vector.

${vectors.length} vectors are legal. The database refuses a row with any other (\`ff_exec_core_state\`); \`test/engine/vector.test.ts\` compares
it with the model over all combinations. The table of transitions leads to exactly the legal ones (\`test/model/transition.test.ts\`), and
the engine makes exactly its changes, also when two operations race (\`test/engine/transitions.test.ts\`, \`test/races/pairs.test.ts\`).

## Public states

\`\`\`mermaid
${diagram()}
\`\`\`

An arrow from a box starts from every state in it. Dotted arrows are for limits, budgets and holds: no operation makes them yet. A change
that leaves the vector as it is (a renewal, a tag, a priority, a signal that satisfies nothing) is not an arrow.

## Vectors

Ownership is \`leased\` in \`active\`, else \`unowned\`. The outcome is \`none\` until the execution has ended.

| public state | phase | eligibility | attempt | interruption |
| --- | --- | --- | --- | --- |
${publicStates.map(stateLine).join('\n')}

## Transitions

A transition keeps the words that it does not set.

| operation | case | from | to | sets |
| --- | --- | --- | --- | --- |
${[...births.map(birthLine), ...transitions.map(transitionLine)].join('\n')}
`

if (!process.argv.includes('--check')) {
  await mkdir(new URL('./', FILE), { recursive: true })
  await writeFile(FILE, current)
} else if ((await readFile(FILE, 'utf8').catch(() => '')) !== current) {
  console.error('docs/internals/states.md is not what src/model/transition.ts makes; run npm run states')
  process.exitCode = 1
}

function diagram(): string {
  return [
    'flowchart LR',
    '  new(( ))',
    '  subgraph live [not ended]',
    ...openStates.map((state) => `    ${state}`),
    '  end',
    '  subgraph over [ended]',
    ...endedStates.map((state) => `    ${state}`),
    '  end',
    ...births.map(({ to }) => `  new -- create --> ${publicState(to)}`),
    ...arrows(),
  ].join('\n')
}

/** One for each two ends, with the names of all operations between them. */
function arrows(): string[] {
  const starts = new Map<string, Set<PublicState>>()
  for (const transition of transitions) {
    for (const vector of startsOf(transition)) {
      const line = transition.isPlanned ? '-.' : '--'
      const key = `${line} ${publicState(apply(transition, vector))} ${transition.name}`
      starts.set(key, (starts.get(key) ?? new Set()).add(publicState(vector)))
    }
  }
  const names = new Map<string, string[]>()
  for (const [key, from] of starts) {
    const [line, to, name] = key.split(' ') as [string, string, string]
    for (const start of box([...from])) {
      const ends = `${start} ${line} ${to}`
      names.set(ends, [...(names.get(ends) ?? []), name])
    }
  }
  return [...names].map(([ends, operations]) => {
    const [from, line, to] = ends.split(' ')
    return `  ${from} ${line} "${operations.join('<br>')}" ${line === '--' ? '-->' : '.->'} ${to}`
  })
}

/** The box in place of all states in it. */
function box(states: readonly PublicState[]): readonly string[] {
  if (openStates.every((state) => states.includes(state))) return ['live']
  if (endedStates.every((state) => states.includes(state))) return ['over']
  return states
}

function statesBefore(transition: Transition): PublicState[] {
  return ordered(startsOf(transition).map(publicState))
}

function statesAfter(transition: Transition): PublicState[] {
  return ordered(startsOf(transition).map((vector) => publicState(apply(transition, vector))))
}

function startsOf(transition: Transition): StateVector[] {
  return vectors.filter((vector) => transitionsFrom(vector).includes(transition))
}

function ordered(states: readonly PublicState[]): PublicState[] {
  return publicStates.filter((state) => states.includes(state))
}

function stateLine(state: PublicState): string {
  const found = vectors.filter((vector) => publicState(vector) === state)
  const words = (dimension: keyof StateVector): string =>
    [...new Set(found.map((vector) => vector[dimension]))].join(', ')
  return `| \`${state}\` | ${words('lifecyclePhase')} | ${words('eligibilityState')} | ${words('attemptState')} | ${words('interruption')} |`
}

function birthLine({ name, when, to }: (typeof births)[number]): string {
  return `| ${name} | ${when} | | ${publicState(to)} | ${wordsOf(to)} |`
}

function transitionLine(transition: Transition): string {
  const { name, when = '', to, isPlanned = false } = transition
  const from = box(statesBefore(transition)).map((state) => boxNames[state] ?? state)
  const note = isPlanned ? [when, 'not used yet'].filter(Boolean).join('; ') : when
  return `| ${name} | ${note} | ${from.join(', ')} | ${statesAfter(transition).join(', ')} | ${wordsOf(to)} |`
}

/** Phase and ownership follow from the public state. */
function wordsOf({ eligibilityState, attemptState, terminalOutcome, interruption }: Partial<StateVector>): string {
  const words = { eligibility: eligibilityState, attempt: attemptState, outcome: terminalOutcome, interruption }
  return Object.entries(words)
    .flatMap(([dimension, word]) => (word === undefined ? [] : [`${dimension} ${word}`]))
    .join(', ')
}
