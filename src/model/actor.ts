// The actor of an operation, as one text: the name, then the id of the API key that admitted the caller, then the actor
// on whose behalf the key acts. One text, because it is stored wherever an actor is: in events, and in the rows from
// which later events copy it, such as a cancel that a duty carries out. The separator is a control character, which no
// name has.

export interface Actor {
  /** The name of the key, over HTTP; otherwise the actor of `engine.as`. */
  readonly name: string
  /** Null without a key: in this process, for acts of the engine, and for holders of tokens and links. */
  readonly keyId: string | null
  /** The actor that an admin key named by `flowfabric-actor`. It is not verified. */
  readonly onBehalfOf: string | null
}

const separator = '\u001f'

export function formatActor({ name, keyId, onBehalfOf }: Actor): string {
  if (keyId === null) return name
  return [name, keyId, ...(onBehalfOf === null ? [] : [onBehalfOf])].join(separator)
}

export function parseActor(text: string): Actor {
  // The usual case.
  if (!text.includes(separator)) return { name: text, keyId: null, onBehalfOf: null }
  const [name = '', keyId = null, onBehalfOf = null] = text.split(separator)
  return { name, keyId, onBehalfOf }
}

/** For a reader: `ops`, or `ops for ann`. */
export function describeActor(text: string): string {
  const { name, onBehalfOf } = parseActor(text)
  return onBehalfOf === null ? name : `${name} for ${onBehalfOf}`
}
