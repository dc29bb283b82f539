// A signal with a name that no wait has is stored, because the wait may come later. The name may also be misspelt, so
// the result lists the awaited names.
import { nearest, show } from './text.ts'

const mostNames = 5

/** Undefined when the name is among them, or no names are awaited. */
export function signalHint(name: string, names: readonly string[], who: string): string | undefined {
  if (names.length === 0 || names.includes(name)) return undefined
  const listed = names.slice(0, mostNames).map(show).join(', ')
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ''
  const meant = nearest(name, names)
  return `${who} ${listed}${more}, not ${show(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}
