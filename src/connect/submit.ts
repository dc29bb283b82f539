// Submits a task, once or many times, and gives handles of what was accepted.
import type { Engine } from '../engine/contract.ts'
import type { CreateRequest } from '../engine/execution/create-request.ts'
import type { Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import { requestOf, type SubmitOptions } from '../worker/submission.ts'
import type { Task } from '../worker/task.ts'
import { handleOf, type Handle } from './handle.ts'

export interface Submitted {
  readonly input: unknown
  readonly options?: SubmitOptions
}

export async function submit(
  engine: Engine,
  codec: Codec,
  task: Task,
  input: unknown,
  options: SubmitOptions = {},
): Promise<Handle> {
  const created = await engine.executions.create(await requestOf(codec, task, input, options))
  return handleFor(engine, codec, task, created.executionId)
}

/** A bad one is refused in its place and holds up none of the others. */
export async function submitMany(
  engine: Engine,
  codec: Codec,
  task: Task,
  items: readonly Submitted[],
): Promise<(Handle | EngineError)[]> {
  const requests = await Promise.all(
    items.map(({ input, options = {} }) => requestOf(codec, task, input, options).catch(asRefusal)),
  )
  const good = requests.filter((request): request is CreateRequest => !EngineError.is(request))
  const answers = await engine.executions.createMany(good)
  const answerTo = new Map(good.map((request, index) => [request, answers[index]!]))
  return requests.map((request) => {
    if (EngineError.is(request)) return request
    const answer = answerTo.get(request)!
    return answer.kind === 'refused' ? answer.error : handleFor(engine, codec, task, answer.executionId)
  })
}

export function handleFor(engine: Engine, codec: Codec, task: Task | undefined, id: ExecutionId): Handle {
  return handleOf(engine, codec, id, task?.schemas.signals ?? {})
}

function asRefusal(error: unknown): EngineError {
  if (EngineError.is(error)) return error
  throw error
}
