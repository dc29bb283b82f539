// Builds the request of a call: which fields are in the path, which in the query, which in the body.
import { pathOf, type Fields } from '../api/call.ts'
import type { Route } from '../api/route.ts'
import { toWire } from '../api/wire.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { encodePlain } from '../model/plain.ts'
import { show } from '../model/text.ts'

export interface WireRequest {
  readonly path: string
  readonly body: string | undefined
}

export function requestOf(route: Route, fields: Fields): WireRequest {
  checkContent('', fields)
  const { path, rest } = pathOf(route, fields)
  if (route.body !== 'none') return { path, body: jsonOf(route.operationId, rest) }
  const query = queryOf(rest)
  return { path: query === '' ? path : `${path}?${query}`, body: undefined }
}

/** Refuses values that JSON cannot hold, such as a bigint or a cycle. */
export function jsonOf(operationId: string, value: unknown): string {
  try {
    return JSON.stringify(toWire(value)) ?? 'null'
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : 'unknown'
    throw new EngineError('invalid_input', `the request to ${operationId} cannot be sent: ${why}`, {}, { cause })
  }
}

/** Refuses a text in place of bytes, which are a text on the wire, and plain values that JSON cannot hold. */
export function checkContent(at: string, given: unknown): void {
  if (typeof given !== 'object' || given === null) return
  const { execution, flow, members, ...fields } = given as Fields
  for (const name of ['payload', 'result', 'error']) {
    if (typeof fields[name] === 'string') throw refusal('invalid_input', at + name, show(fields[name]), 'bytes')
  }
  for (const name of ['input', 'value']) if (fields[name] !== undefined) encodePlain(at + name, fields[name])
  checkContent(`${at}execution.`, execution)
  checkContent(`${at}flow.`, flow)
  if (Array.isArray(members)) members.forEach((each, index) => checkContent(`${at}members[${index}].`, each))
}

/** A field of a field is `tags[key]=value`; a list is its name, repeated. */
function queryOf(fields: Fields): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (Array.isArray(value)) for (const item of listOf(name, value)) query.append(name, item)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) query.append(`${name}[${key}]`, textOf(inner))
    } else query.append(name, textOf(value))
  }
  return query.toString()
}

/** An empty list differs from a missing one: it is sent as a value that matches nothing. */
function listOf(name: string, list: readonly unknown[]): readonly string[] {
  if (list.length === 0) return ['']
  return Array.from(list, (item, index) => {
    if (typeof item === 'string') return item
    throw refusal('invalid_input', `${name}[${index}]`, show(item), 'a text')
  })
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : `${value as number}`
}
