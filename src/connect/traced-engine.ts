// An engine with telemetry: every execution that it creates carries the mark of the span that created it.
import type { Engine } from '../engine/contract.ts'
import type { CreateRequest } from '../engine/execution/create-request.ts'
import { traceparentTag } from '../model/tag.ts'
import type { Telemetry } from '../worker/telemetry.ts'

export function tracedEngine(engine: Engine, telemetry: Telemetry): Engine {
  const { executions } = engine
  return {
    ...engine,
    as: (caller) => tracedEngine(engine.as(caller), telemetry),
    executions: {
      ...executions,
      create: (request) => telemetry.submit([request.kind], (mark) => executions.create(marked(request, mark))),
      createMany: (requests) =>
        telemetry.submit([...new Set(requests.map(({ kind }) => kind))], (mark) =>
          executions.createMany(requests.map((request) => marked(request, mark))),
        ),
    },
  }
}

function marked(request: CreateRequest, mark: string | null): CreateRequest {
  if (mark === null) return request
  return { ...request, tags: { [traceparentTag]: mark, ...request.tags } }
}
