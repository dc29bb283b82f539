// Ids as people read and type them. Output has the bare uuid, which needs no quotes in a shell; `--json` has the full
// id. An argument may be the full id, the bare uuid, or an unambiguous prefix of a uuid.
import type { Engine } from '../engine/contract.ts'
import { EngineError, refusal, type ErrorCode } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { show } from '../model/text.ts'
import { harmless } from './text.ts'
import { relative } from './time.ts'

/** The uuid of an id. */
export function bare(id: string): string {
  return id.replace(/^\{fp:\d+\}:/, '')
}

/** A sentence with the bare uuids of the ids that it names. */
export function bareIds(sentence: string): string {
  return sentence.replaceAll(/\{fp:\d{1,3}\}:(?=[\da-f]{8}-)/gi, '')
}

export function isIdPrefix(typed: string): boolean {
  return typed.length < uuidLength && /^[\da-f-]+$/i.test(typed)
}

const uuidLength = 36

/** The id of the execution. Text that is not a prefix is checked by the engine. */
export async function executionOf(engine: Engine, typed: string): Promise<string> {
  return complete('execution', engine, typed, async (request) => {
    const { executions } = await engine.executions.list(request)
    return executions.map(({ executionId, kind, publicState, createdAt }) => ({
      id: executionId,
      kind,
      state: publicState,
      createdAt,
    }))
  })
}

export async function flowOf(engine: Engine, typed: string): Promise<string> {
  return complete('flow', engine, typed, async (request) => {
    const { flows } = await engine.flows.list(request)
    return flows.map(({ flowId, kind, state, createdAt }) => ({ id: flowId, kind, state, createdAt }))
  })
}

interface Candidate {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly createdAt: number
}

type FindByPrefix = (request: { idPrefix: string; limit: number }) => Promise<readonly Candidate[]>

const mostCandidates = 10

async function complete(
  noun: 'execution' | 'flow',
  engine: Engine,
  typed: string,
  find: FindByPrefix,
): Promise<string> {
  if (!isIdPrefix(typed)) return typed
  if (typed.length < limits.idPrefixCharacters) {
    const allowed = `at least the first ${limits.idPrefixCharacters} characters of the id`
    throw refusal('invalid_id', `${noun} id`, show(typed), allowed)
  }
  const found = await find({ idPrefix: typed, limit: mostCandidates + 1 })
  const [only, another] = found
  if (only === undefined) {
    const code: ErrorCode = noun === 'flow' ? 'flow_not_found' : 'execution_not_found'
    throw new EngineError(code, `there is no ${noun} whose id begins with ${typed}`, { idPrefix: typed })
  }
  if (another === undefined) return only.id
  throw ambiguous(noun, typed, found, await engine.serverTime())
}

// Uuids begin with their time, so objects that were created together share many characters: each is listed in full.
function ambiguous(noun: string, typed: string, found: readonly Candidate[], now: number): EngineError {
  const listed = found.slice(0, mostCandidates)
  const count = found.length > mostCandidates ? `more than ${mostCandidates}` : `${found.length}`
  const lines = listed.map(
    ({ id, kind, state, createdAt }) => `  ${bare(id)}  ${harmless(kind)}  ${state}  ${relative(createdAt, now)}`,
  )
  const sentence = [`${typed} is the beginning of ${count} ${noun} ids; type more characters:`, ...lines].join('\n')
  return new EngineError('invalid_id', sentence, { idPrefix: typed, candidates: listed.map(({ id }) => id) })
}
