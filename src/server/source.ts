// The source of a stream. A client that reconnects sends its position in the header of the protocol.
import type { Fields } from '../api/call.ts'
import type { Operation } from '../api/routes.ts'
import type { Engine } from '../engine/contract.ts'
import type { ExecutionId } from '../model/id.ts'
import type { StreamSource } from './event-stream.ts'
import { followTimeline } from './timeline-stream.ts'

export function sourceOf(
  { verb }: Operation,
  engine: Engine,
  fields: Fields,
  lastEventId: string | undefined,
): Promise<StreamSource> {
  const isAgain = lastEventId !== undefined && lastEventId !== ''
  if (verb === 'subscribe') return engine.events.subscribe({ ...fields, ...(isAgain && { after: lastEventId }) })
  const { executionId, ...page } = fields
  return followTimeline(engine, executionId as ExecutionId, { ...page, ...(isAgain && { cursor: lastEventId }) })
}
