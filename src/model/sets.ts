// A call of the engine takes a set of items, of a bounded length; longer lists are split.
import { EngineError, refusal } from './errors.ts'
import { limits } from './limits.ts'
import { show } from './text.ts'

/** Refuses a list that is longer than one call allows, before any of its items is read. */
export function checkSet(field: string, items: unknown, most: number = limits.setItems): readonly unknown[] {
  if (!Array.isArray(items)) throw refusal('invalid_input', field, show(items), 'an array')
  if (items.length > most) throw tooManyItems(field, items.length, most)
  return items
}

/** `found` may be the count at which counting stopped. */
export function tooManyItems(field: string, found: number, most: number): EngineError {
  const sentence = `${field} has ${found} items or more, but one call takes at most ${most}; send them in several calls`
  return new EngineError('too_many_items', sentence, { field, found, limit: most })
}

/** The items in sets of at most `most`, in order. */
export function inSets<Item>(items: readonly Item[], most: number = limits.setItems): (readonly Item[])[] {
  const sets: (readonly Item[])[] = []
  for (let start = 0; start < items.length; start += most) sets.push(items.slice(start, start + most))
  return sets
}

/** One call for each set, all at once; the results in the order of the items. */
export async function bySets<Item, Answer>(
  items: readonly Item[],
  call: (set: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  return (await Promise.all(inSets(items).map((set) => call(set)))).flat()
}

/** Starts one item after the other, and resolves with their answers in the order of the items. */
export function inOrder<Answer>(
  count: number,
  start: (index: number, settle: (answer: Answer) => void) => void,
): Promise<Answer[]> {
  return new Promise((resolve) => {
    const answers = Array.from<Answer>({ length: count })
    let open = count
    if (open === 0) resolve(answers)
    // By index, because a hole in an array of requests is an item too.
    for (let index = 0; index < count; index++) {
      start(index, (answer) => {
        answers[index] = answer
        open--
        if (open === 0) resolve(answers)
      })
    }
  })
}
