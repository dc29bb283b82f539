// The last error of a failed execution, decoded with the codec.
import type { Engine } from '../engine/contract.ts'
import type { Codec, Encoded } from '../model/codec.ts'
import type { ExecutionId } from '../model/id.ts'
import { decodeError, sealedReason, sentenceOf, type RecordedError } from '../model/recorded-error.ts'

export async function lastError(engine: Engine, codec: Codec, id: ExecutionId): Promise<RecordedError | undefined> {
  let cursor: string | null = null
  let last: RecordedError | undefined
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await engine.attempts.list(id, { limit: 1000, ...from })
    const failed = page.attempts.findLast((attempt) => attempt.error !== null)
    if (failed !== undefined) last = decoded({ bytes: failed.error!, encoding: failed.errorEncoding! }, codec)
    cursor = page.nextCursor
  } while (cursor !== null)
  return last
}

/** Undefined when it was recorded with another codec: the ending of the execution is known without it. */
function decoded(encoded: Encoded, codec: Codec): RecordedError | undefined {
  try {
    return decodeError(encoded, codec)
  } catch {
    return undefined
  }
}

/** The reason of a failure, for a caller that has the codec. */
export function openedReason(reason: string | null, error: RecordedError | undefined): string | null {
  return reason === sealedReason && error !== undefined ? sentenceOf(error) : reason
}
