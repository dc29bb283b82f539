// A signal whose name nothing waits for is kept, because the wait may come later. It may also be misspelt, so the answer says
// what is awaited now.
import { nearest, show } from './text.ts'

const mostNames = 5

/** Undefined where the name is among them, or there is none to compare it with. */
export function signalHint(name: string, names: readonly string[], who: string): string | undefined {
  if (names.length === 0 || names.includes(name)) return undefined
  const listed = names.slice(0, mostNames).map(show).join(', ')
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ''
  const meant = nearest(name, names)
  return `${who} ${listed}${more}, not ${show(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}
