// The timeline of one execution, followed: what is written already, then what comes. The subscription begins before the pages are
// read, so that nothing falls in between; what both have is shown once.
import type { Engine } from '../engine/contract.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { Truncated } from '../engine/event/subscription.ts'
import type { ExecutionId } from '../model/id.ts'
import type { Source } from './event-stream.ts'

export async function followTimeline(
  engine: Engine,
  executionId: ExecutionId,
  request: { readonly cursor?: string; readonly limit?: number },
): Promise<Source> {
  const subscription = await engine.events.subscribe({ executionId })
  try {
    const first = await engine.events.timeline(executionId, request)
    const begin = subscription.cursor
    const source = follow()
    let reached = request.cursor ?? ''
    return {
      get cursor() {
        return reached
      },
      next: () => source.next(),
      return: async () => {
        await subscription.return()
        return source.return(undefined)
      },
    }

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
