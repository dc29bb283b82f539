// Subscribers of a test, which end with it.
import { onTestFinished } from 'vitest'
import { localCaller } from '../../../src/engine/kernel/caller.ts'
import type { LogEvent } from '../../../src/engine/event/log-event.ts'
import { Subscriptions, type SubscribeRequest } from '../../../src/engine/event/subscribe.ts'
import type { Subscription, Truncated } from '../../../src/engine/event/subscription.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { addEvents } from '../../support/event-log.ts'

type Delivered = LogEvent | Truncated

/** The subscribers of one process, for a caller bound to a namespace or to none. */
export function subscriberOf(subscriptions: Subscriptions) {
  return async (request: SubscribeRequest = {}, namespace: string | null = null): Promise<Subscription> => {
    const subscription = await subscriptions.subscribe({ ...localCaller, namespace }, request)
    onTestFinished(async () => {
      await subscription.return()
    })
    return subscription
  }
}

export function subscriber(sql: Sql) {
  return subscriberOf(new Subscriptions(sql))
}

/** Returns the next `count` events. */
export async function take(subscription: Subscription, count: number): Promise<Delivered[]> {
  const taken: Delivered[] = []
  while (taken.length < count) {
    const { done, value } = await subscription.next()
    if (done === true) throw new Error(`the subscription ended after ${taken.length} of ${count} events`)
    taken.push(value)
  }
  return taken
}

export function eventsOf(delivered: readonly Delivered[]): LogEvent[] {
  return delivered.map((one) => {
    if (one.kind === 'truncated') throw new Error(`truncated after ${one.after}`)
    return one
  })
}

/** Returns the executions of the next `count` events. */
export async function takeIds(subscription: Subscription, count: number): Promise<(string | null)[]> {
  return eventsOf(await take(subscription, count)).map((event) => event.executionId)
}

export function writeEvents(sql: Sql, count: number): Promise<void> {
  return sql.script(addEvents(count))
}
