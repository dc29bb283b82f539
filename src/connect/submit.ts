// Submits a task, once or many times, and returns the handles of accepted executions.
import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import type { Refused } from '../engine/kernel/each-in-place.ts'
import type { CreateResult } from '../engine/execution/create-answer.ts'
import type { CreateRequest } from '../engine/execution/create-request.ts'
import type { Codec } from '../model/codec.ts'
import { EngineError, refusal } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import { inSets } from '../model/sets.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
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

/** An invalid one is refused in its place, and the others are accepted. */
export async function submitMany(
  engine: Engine,
  codec: Codec,
  task: Task,
  items: readonly Submitted[],
): Promise<(Handle | EngineError)[]> {
  if (!Array.isArray(items))
    throw refusal('invalid_input', 'what to submit', show(items), 'a list of { input, options }')
  const requests = await Promise.all(items.map((item: Submitted) => requestFrom(codec, task, item).catch(asRefusal)))
  const good = requests.filter((request): request is CreateRequest => !EngineError.is(request))
  const answers = await createAll(engine, good)
  const answerTo = new Map(good.map((request, index) => [request, answers[index]!]))
  return requests.map((request) => {
    if (EngineError.is(request)) return request
    const answer = answerTo.get(request)!
    return answer.kind === 'refused' ? answer.error : handleFor(engine, codec, task, answer.executionId)
  })
}

/** One call has a limit, so a long list is several calls. Other work of the process has a turn in between. */
async function createAll(engine: Engine, requests: readonly CreateRequest[]): Promise<(CreateResult | Refused)[]> {
  const sent: Promise<(CreateResult | Refused)[]>[] = []
  for (const set of inSets(requests)) {
    const creating = engine.executions.createMany(set)
    // Its error is thrown below. Until then it must not count as unhandled.
    creating.catch(() => {})
    sent.push(creating)
    await setImmediate()
  }
  return (await Promise.all(sent)).flat()
}

export function handleFor(engine: Engine, codec: Codec, task: Task | undefined, id: string): Handle {
  // Requests accept either form, so the handle keeps the id as the caller passed it.
  return handleOf(engine, codec, id as ExecutionId, task?.schemas.signals ?? {})
}

async function requestFrom(codec: Codec, task: Task, item: Submitted): Promise<CreateRequest> {
  refuseUnknownFields('submitMany', item, ['input', 'options'])
  return requestOf(codec, task, item.input, item.options ?? {})
}

function asRefusal(error: unknown): EngineError {
  if (EngineError.is(error)) return error
  throw error
}
