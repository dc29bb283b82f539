import { EngineError, refusal } from './errors.ts'
import { limits } from './limits.ts'
import { ownFields } from './shape.ts'
import { checkText, show } from './text.ts'

export type Tags = Readonly<Record<string, string>>

/** W3C's traceparent of the span that created the execution; it is no part of the request. */
export const traceparentTag = 'traceparent'

export const tagKeyForm = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*$/

/** A plain key (`customer`) or a dotted one (`billing.plan`), without empty segments. */
export function checkTagKey(key: unknown): string {
  const text = checkText('tag key', key, { minBytes: 1, maxBytes: limits.tagKeyBytes, code: 'invalid_tag' })
  if (tagKeyForm.test(text)) return text
  const allowed = 'lowercase letters, digits and _, in segments separated by dots, starting with a letter'
  throw refusal('invalid_tag', 'tag key', show(text), allowed)
}

export function checkTagValue(key: string, value: unknown): string {
  return checkText(`tag ${key}`, value, { maxBytes: limits.tagValueBytes, code: 'invalid_tag' })
}

/** Checked tags in the order of their keys, so that equal tags are equal texts; absent means none. */
export function parseTags(value: unknown): Tags {
  if (value === undefined) return {}
  const fields = ownFields(value)
  if (fields === null) {
    throw refusal('invalid_tag', 'tags', show(value), 'a plain object of strings')
  }
  if (fields.size > limits.tagCount) {
    throw new EngineError(
      'invalid_tag',
      `${fields.size} tags are given; an execution can have at most ${limits.tagCount}`,
      {
        field: 'tags',
        found: fields.size,
        allowed: limits.tagCount,
      },
    )
  }
  const tags: [string, string][] = []
  for (const [key, text] of fields) tags.push([checkTagKey(key), checkTagValue(key, text)])
  return sortedTags(Object.fromEntries(tags))
}

/** In alphabetical order, for readers; the database orders keys by length. */
export function sortedTags(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export interface Filter {
  readonly namespace?: string | undefined
  readonly tag?: { readonly key: string; readonly value: string } | undefined
}

/** A missing field admits all; a given field must be equal; both must match. */
export function matchesFilter(
  { namespace, tag }: Filter,
  candidate: { readonly namespace: string; readonly tags: Tags },
): boolean {
  if (namespace !== undefined && candidate.namespace !== namespace) return false
  if (tag === undefined) return true
  return Object.hasOwn(candidate.tags, tag.key) && candidate.tags[tag.key] === tag.value
}
