// Who acted, as one text: the name, and behind it the id of the API key that admitted the caller and the one in whose name it acts.
// One text, because it goes wherever an actor goes: into events, and into the rows from which later events take it, such as a cancel
// that a duty carries out. The separator is a control character, which no name has.

export interface Actor {
  /** The key's name, over HTTP; else as `engine.as` was told. */
  readonly name: string
  /** Null where there was no key: in this process, for the engine's own acts, and for holders of tokens and links. */
  readonly keyId: string | null
  /** Whom an admin key named by `flowfabric-actor`. Nothing was checked. */
  readonly onBehalfOf: string | null
}

const separator = '\u001f'

export function formatActor({ name, keyId, onBehalfOf }: Actor): string {
  if (keyId === null) return name
  return [name, keyId, ...(onBehalfOf === null ? [] : [onBehalfOf])].join(separator)
}

export function parseActor(text: string): Actor {
  // Nearly always.
  if (!text.includes(separator)) return { name: text, keyId: null, onBehalfOf: null }
  const [name = '', keyId = null, onBehalfOf = null] = text.split(separator)
  return { name, keyId, onBehalfOf }
}

/** For a reader: `ops`, or `ops for ann`. */
export function describeActor(text: string): string {
  const { name, onBehalfOf } = parseActor(text)
  return onBehalfOf === null ? name : `${name} for ${onBehalfOf}`
}
