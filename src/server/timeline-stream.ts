// Follows the timeline of one execution: first the stored events, then new ones. The subscription begins before the
// pages are read, so that no event is missed; an event in both is shown once. For streams of the server, and for
// `flowfabric watch`.
import type { Engine } from '../engine/contract.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { SubscribeRequest } from '../engine/event/subscribe.ts'
import type { Subscription, Truncated } from '../engine/event/subscription.ts'
import type { TimelineRequest } from '../engine/event/timeline.ts'

export async function followTimeline(
  engine: Engine,
  executionId: string,
  request: TimelineRequest,
  until: Pick<SubscribeRequest, 'signal'> = {},
): Promise<Subscription> {
  const subscription = await engine.events.subscribe({ executionId, ...until })
  try {
    const first = await engine.events.timeline(executionId, request)
    const begin = subscription.cursor
    const source = follow()
    let reached = request.cursor ?? ''
    const followed: Subscription = {
      get cursor() {
        return reached
      },
      next: () => source.next(),
      return: async () => {
        await subscription.return()
        return source.return(undefined)
      },
      [Symbol.asyncIterator]: () => followed,
    }
    return followed

    async function* follow(): AsyncGenerator<LogEvent | Truncated, undefined> {
      const shown = new Set<string>()
      let page = first
      for (;;) {
        for (const event of page.events) {
          if (event.cursor > begin) shown.add(event.cursor)
          reached = event.cursor
          yield event
        }
        if (page.nextCursor === null) break
        page = await engine.events.timeline(executionId, { ...request, cursor: page.nextCursor })
      }
      for await (const event of subscription) {
        if (shown.delete(event.cursor)) continue
        if (event.cursor > reached) reached = event.cursor
        yield event
      }
    }
  } catch (error) {
    await subscription.return()
    throw error
  }
}
