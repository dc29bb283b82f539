// An operation of the engine as HTTP sees it, without the shapes: the client is driven by it and loads no validator.

import type { Scope } from '../model/api-key.ts'
import type { ErrorCode } from '../model/errors.ts'
import { limits } from '../model/limits.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Route {
  readonly operationId: string
  readonly method: Method
  /** With fields of the request in braces: `/v1/executions/{executionId}/cancel`. */
  readonly path: string
  /** Any of these allows it. None: what the request carries, a token or a link, is the right to it. */
  readonly scopes: readonly Scope[]
  readonly summary: string
  /** The operation's arguments: a field of the request each, or `request` for all that no other argument takes. */
  readonly args: readonly string[]
  /** The answer is no object; it travels as this field of one. */
  readonly wrap?: string
  /** Null is this refusal on the wire. */
  readonly absent?: ErrorCode
  /** The kind of an answer that tells of something new, which is a 201. */
  readonly created?: string
  /** The field that says how long it may wait; it takes an AbortSignal as well. */
  readonly waits?: 'wait' | 'timeout'
  /** The largest body. */
  readonly body: BodySize
  /** The most items of an array that is a field of the body; they are counted before the body is parsed. */
  readonly mostItems?: number
  /** The header `Idempotency-Key` is the field of that name. */
  readonly takesIdempotencyKey?: true
  /** Sent again by our client with the same request id, it answers as the first did. */
  readonly remembers?: true
  /** Sent again, it does nothing that the first has not done. */
  readonly isRepeatable: boolean
  /** Where in the answer bytes and errors are: `claims.*.payload`. */
  readonly bytes?: readonly string[]
  readonly errors?: readonly string[]
  /** Bytes of the answer that are given as JSON too. */
  readonly plain?: readonly PlainPart[]
  /** Answers by server-sent events when asked to. */
  readonly streams?: 'only' | 'also'
}

/** Beside the bytes, where the encoding is `json`: their JSON. */
export interface PlainPart {
  /** The object that has these fields: `signals.*`; empty: the answer itself. */
  readonly at: string
  readonly bytes: string
  readonly encoding: string
  readonly as: string
}

export type BodySize = 'none' | 'control' | 'signal' | 'payload' | 'batch'

type Traits = Partial<Omit<Route, 'operationId' | 'method' | 'path' | 'scopes' | 'summary'>>

type Define = (
  operationId: string,
  path: string,
  scopes: Scope | readonly Scope[],
  summary: string,
  traits?: Traits,
) => Route

export const get: Define = define('GET', 'none')
export const post: Define = define('POST', 'control')
export const put: Define = define('PUT', 'control')
export const del: Define = define('DELETE', 'none')

function define(method: Method, body: BodySize): Define {
  return (operationId, path, scopes, summary, traits = {}) => ({
    operationId,
    method,
    path,
    scopes: typeof scopes === 'string' ? [scopes] : scopes,
    summary,
    args: ['request'],
    body,
    isRepeatable: method !== 'POST',
    ...traits,
  })
}

/** One call for many requests, each answered in its place. */
export function many(
  operationId: string,
  path: string,
  scopes: Scope | readonly Scope[],
  summary: string,
  traits: Traits = {},
): Route {
  return post(operationId, path, scopes, summary, {
    args: ['items'],
    wrap: 'items',
    body: 'batch',
    mostItems: limits.setItems,
    errors: ['items.*.error'],
    ...traits,
  })
}

/** The fields that stand in a path, in their order. */
export function pathFields(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}
