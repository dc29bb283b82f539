// An operation that records the sets that a merger sends.
import { noEffects } from '../../../src/engine/kernel/effects.ts'
import { Merger, rowLocked } from '../../../src/engine/kernel/merge.ts'
import type { Outcome, Sent, SetOperation } from '../../../src/engine/kernel/merge.ts'
import { setup } from '../../support/setup.ts'

export interface Recorded {
  readonly sets: string[][]
  readonly again: boolean[]
  /** Releases the sets that wait; without gates, each runs at once. */
  readonly operation: SetOperation<string, string>
}

/** Items that share the part before a colon share a key. */
export function record(answer: (items: readonly string[], sent: number) => readonly Outcome<string>[]): Recorded {
  const sets: string[][] = []
  const again: boolean[] = []
  return {
    sets,
    again,
    operation: {
      keyOf: (item) => item.split(':')[0]!,
      bytesOf: (item) => (item.startsWith('large') ? 3 * 1024 * 1024 : 1),
      async send(items, isAgain) {
        sets.push([...items])
        again.push(isAgain)
        await Promise.resolve()
        return sent(answer(items, sets.length))
      },
      sendAlone: async () => sent([rowLocked]),
    },
  }
}

export const sent = (outcomes: readonly Outcome<string>[]): Sent<string> => ({ outcomes, effects: noEffects })
export const echo = (items: readonly string[]) => items.map((item) => `did ${item}`)
export const numbered = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`)

export function sqlError(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`refused with ${code}`), { code, severity: 'ERROR', ...fields })
}

export async function merged(recorded: Recorded): Promise<Merger<string, string>> {
  const { sql } = await setup()
  return new Merger(sql, recorded.operation, () => {})
}
