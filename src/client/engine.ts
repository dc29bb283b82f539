// The same `Engine` over HTTP, made from the route table, which declares the request and the result of each verb.
import { fieldsOf, type Fields } from '../api/call.ts'
import type { Route } from '../api/route.ts'
import { operations, routes, type Operation } from '../api/routes.ts'
import type { Engine } from '../engine/contract.ts'
import type { SubscribeRequest } from '../engine/event/subscribe.ts'
import { bindCaller } from '../model/caller.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { show } from '../model/text.ts'
import { callerHeaders, type Bound } from './caller-headers.ts'
import type { Client } from './client.ts'
import { asFirst, mintIds, type Minted } from './mint.ts'
import { jsonOf, checkContent, requestOf } from './request.ts'
import { Sets, type SetItem } from './sets.ts'
import { subscribe } from './subscribe.ts'
import { waitFor } from './wait.ts'

type Verb = (...given: unknown[]) => Promise<unknown>
type Verbs = Record<string, Verb>

export function engineOver(client: Client, bound: Bound): Engine {
  const nouns: Record<string, Verbs> = {}
  const whole: Verbs = {}
  for (const operation of operations) {
    const { noun, verb } = operation
    const verbs = noun === null ? whole : (nouns[noun] ??= {})
    const many = manyOf(operation)
    if (many === null) {
      const call = verbFor(client, bound, operation)
      verbs[verb] ??= (...given) => client.take(() => call(...given))
    } else {
      const sets = setsFor(client, bound, operation.route, many)
      verbs[verb] = (request) => client.take(() => sets.one(request))
      verbs[`${verb}Many`] = (requests) => client.take(() => sets.many(requests))
    }
  }
  nouns['events']!['subscribe'] = (request = {}) =>
    client.take(() => subscribe(client, callerHeaders(bound), request as SubscribeRequest))
  const as: Engine['as'] = (options) => engineOver(client, bindCaller(bound, options))
  return { ...nouns, ...whole, as } as unknown as Engine
}

/** The route of the same verb for many. */
function manyOf({ noun, verb }: Operation): Route | null {
  if (noun === null) return null
  const verbs = routes[noun as keyof typeof routes] as unknown as Readonly<Record<string, Route>>
  return verbs[`${verb}Many`] ?? null
}

function verbFor(client: Client, bound: Bound, { route }: Operation): Verb {
  const headers = callerHeaders(bound)
  const ask = (fields: Fields, waitMs?: number, signal?: AbortSignal): Promise<unknown> =>
    client.call({
      route,
      ...requestOf(route, fields),
      headers,
      isRepeatable: mayRepeat(route, fields),
      ...(waitMs !== undefined && { waitMs }),
      signal,
    })
  return async (...given) => {
    refuseNoObject(route, given)
    const asked = fieldsOf(route, given)
    if (route.waits !== undefined) return waitFor(route, asked, client.options.longestWaitMs, ask)
    const minted = mintIds(route.operationId, asked, bound.namespace ?? client.namespace)
    return asFirst(route.created, minted, await ask(minted.fields))
  }
}

function setsFor(client: Client, bound: Bound, one: Route, many: Route): Sets {
  const headers = callerHeaders(bound)
  const minted = new WeakMap<SetItem, Minted>()
  const encode = (request: unknown): SetItem => {
    const isObject = typeof request === 'object' && request !== null
    checkContent('', request)
    if (!isObject) return itemOf(jsonOf(one.operationId, request), mayRepeat(many, {}))
    const own = mintIds(one.operationId, request as Fields, bound.namespace ?? client.namespace)
    const item = itemOf(jsonOf(one.operationId, own.fields), mayRepeat(many, own.fields))
    minted.set(item, own)
    return item
  }
  const send = async (items: readonly SetItem[]): Promise<readonly unknown[]> => {
    const answers = await client.call({
      route: many,
      path: many.path,
      body: `{"items":[${items.map(({ json }) => json).join(',')}]}`,
      headers,
      isRepeatable: items.every(({ isRepeatable }) => isRepeatable),
    })
    if (Array.isArray(answers) && answers.length === items.length) {
      return answers.map((answer: unknown, index) => {
        const own = minted.get(items[index]!)
        return own === undefined ? answer : asFirst(one.created, own, answer)
      })
    }
    const sentence = `the server answered something else than ${items.length} items to ${many.operationId}`
    throw new EngineError('internal_error', sentence, { operationId: many.operationId })
  }
  return new Sets(encode, send, mostBytesOf(many))
}

// Each item has a comma before it, and the set has some bytes around all of them.
function itemOf(json: string, isRepeatable: boolean): SetItem {
  return { json, bytes: Buffer.byteLength(json) + 1, isRepeatable }
}

function mostBytesOf({ body }: Route): number {
  return body === 'signal' ? limits.signalBodyBytes - 64 : 4 * 1024 * 1024
}

// The server recognizes a repeated create by its request id, its own id or its key; and any other call by its key.
function mayRepeat({ isRepeatable, remembers }: Route, { idempotencyKey, requestId }: Fields): boolean {
  return isRepeatable || remembers === true || idempotencyKey !== undefined || requestId !== undefined
}

function refuseNoObject({ args, operationId }: Route, given: readonly unknown[]): void {
  for (const [place, name] of args.entries()) {
    const request = given[place]
    if (name !== 'request' || request === undefined) continue
    if (typeof request === 'object' && request !== null) continue
    throw refusal('invalid_input', `the request to ${operationId}`, show(request), 'an object')
  }
}
