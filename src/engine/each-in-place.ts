import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Refused } from './contract.ts'
import { asEngineError } from './failure.ts'

// As many as make a set: while the database works on it, the next are checked, and the process hears others in between.
const sliceLength = 500

// One promise for the whole call: at a thousand items, one for each would cost more than checking them.
export function eachInPlace<Request, Item, Answer>(
  requests: readonly Request[],
  check: (request: Request) => Item,
  send: (item: Item, settle: (outcome: Answer | EngineError) => void) => void,
): Promise<(Answer | Refused)[]> {
  return new Promise((resolve) => {
    if (!Array.isArray(requests)) throw refusal('invalid_input', 'the requests', show(requests), 'an array')
    const answers = Array.from<Answer | Refused>({ length: requests.length })
    let open = requests.length
    if (open === 0) resolve(answers)
    // By index, because a hole in the array is an item too.
    const sendOne = (index: number): void => {
      const settle = (outcome: Answer | EngineError) => {
        answers[index] = EngineError.is(outcome) ? { kind: 'refused', error: outcome } : outcome
        open--
        if (open === 0) resolve(answers)
      }
      try {
        send(check(requests[index] as Request), settle)
      } catch (error) {
        settle(asEngineError(error))
      }
    }
    const sendFrom = (start: number): void => {
      const end = Math.min(start + sliceLength, answers.length)
      for (let index = start; index < end; index++) sendOne(index)
      if (end < answers.length) setImmediate(sendFrom, end)
    }
    sendFrom(0)
  })
}
