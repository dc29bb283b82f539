// An operation of the engine as an HTTP route, without its shapes: the client uses it and loads no validator.

import type { Scope } from '../model/api-key.ts'
import type { ErrorCode } from '../model/errors.ts'
import { limits } from '../model/limits.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Route {
  readonly operationId: string
  readonly method: Method
  /** With fields of the request in braces: `/v1/executions/{executionId}/cancel`. */
  readonly path: string
  /** Any of these scopes allows it. Empty: the token or link in the request is the right to it. */
  readonly scopes: readonly Scope[]
  readonly summary: string
  /** The arguments of the operation: each is a field of the request, or `request` for all other fields. */
  readonly args: readonly string[]
  /** The result is no object; it is sent as this field of one. */
  readonly wrap?: string
  /** Null is sent as this refusal. */
  readonly absent?: ErrorCode
  /** The kind of a result that reports a new object, which is a 201. */
  readonly created?: string
  /** The field with the longest wait; the operation also takes an AbortSignal. */
  readonly waits?: 'wait' | 'timeout'
  /** The largest body. */
  readonly body: BodySize
  /** The most items of an array that is a field of the body; they are counted before the body is parsed. */
  readonly mostItems?: number
  /** The header `Idempotency-Key` is the field of that name. */
  readonly takesIdempotencyKey?: true
  /** A repeat by our client with the same request id gets the first response. */
  readonly remembers?: true
  /** A repetition has no effect beyond that of the first request. */
  readonly isRepeatable: boolean
  /** Where the response has bytes and errors: `claims.*.payload`. */
  readonly bytes?: readonly string[]
  readonly errors?: readonly string[]
  /** Bytes of the response that are sent as JSON too. */
  readonly plain?: readonly PlainPart[]
  /** Responds with server-sent events on request. */
  readonly streams?: 'only' | 'also'
}

/** The JSON value next to the bytes, if the encoding is `json`. */
export interface PlainPart {
  /** The object with these fields: `signals.*`; empty: the response itself. */
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

/** One call for many requests, with one result for each. */
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

/** The fields in a path, in their order. */
export function pathFields(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}
