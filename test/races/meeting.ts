// Contenders for the same rows: the test sees each of them wait at the gate, in turn, before it opens the gate for
// all.
import { EngineError } from '../../src/model/errors.ts'
import { hold, type Hold } from '../support/barrier.ts'
import * as stored from '../support/stored.ts'
import { lockingTables } from '../support/table.ts'

/** Every write to an execution or a lease waits at this lock; all waiting writes continue together. */
export const everyWrite = lockingTables(stored.executions, stored.leases)

interface MeetingOptions {
  /** The contender that reaches the gate first, and so mostly wins. Tests alternate it. */
  readonly first?: number
  /** Runs when all of them wait there. */
  readonly beforeOpening?: (gate: Hold) => Promise<void>
}

/** Returns the answers in the order of the contenders. */
export async function meet<Answer>(
  url: string,
  contenders: readonly (() => Promise<Answer>)[],
  { first = 0, beforeOpening }: MeetingOptions = {},
): Promise<Answer[]> {
  const gate = await hold(url, everyWrite)
  const answers: Promise<Answer>[] = []
  for (let count = 0; count < contenders.length; count += 1) {
    const index = (first + count) % contenders.length
    answers[index] = contenders[index]!()
    await gate.waiters(count + 1)
  }
  await beforeOpening?.(gate)
  await gate.release()
  return Promise.all(answers)
}

/** The kind of the answer, or the code of the refusal. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    return ((await work) as { kind: string }).kind
  } catch (error) {
    if (EngineError.is(error)) return error.code
    throw error
  }
}
