// Calls that wait. A server allows a wait of a minute, and proxies often less: a longer wait is split into several
// requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fields } from '../api/call.ts'
import type { Route } from '../api/route.ts'
import { parseDuration } from '../model/duration.ts'
import { EngineError, isOutage } from '../model/errors.ts'
import { checkAbortSignal } from '../model/shape.ts'

// After the repetitions of the client itself.
const betweenTriesMs = 1000
/** How long a wait without a limit of its own continues without a reply. */
const longestOutageMs = 300_000

/** One request that waits for at most `waitMs`. */
export type AskWaiting = (fields: Fields, waitMs: number, signal: AbortSignal | undefined) => Promise<unknown>

export async function waitFor(route: Route, fields: Fields, longestWaitMs: number, ask: AskWaiting): Promise<unknown> {
  const { signal: given, ...rest } = fields
  const signal = checkAbortSignal(given)
  const isAborted = (): boolean => signal?.aborted === true
  const name = route.waits!
  const isForEver = name === 'timeout' && rest[name] === undefined
  const totalMs = rest[name] === undefined ? 0 : parseDuration(name, rest[name])
  const until = isForEver ? Infinity : performance.now() + totalMs
  let answeredAt = performance.now()
  for (;;) {
    if (name === 'timeout') signal?.throwIfAborted()
    const isOver = isAborted()
    const leftMs = isOver ? 0 : Math.max(0, Math.ceil(until - performance.now()))
    const waitMs = Math.min(leftMs, longestWaitMs)
    const asked = waitMs === 0 && name === 'wait' ? without(rest, name) : { ...rest, [name]: waitMs }
    const askedAt = performance.now()
    try {
      const answer = await ask(asked, waitMs, isOver ? undefined : signal)
      // If the wait was cut short, as by a server that stops, the caller repeats it.
      const isCutShort = performance.now() - askedAt < waitMs / 2
      if (leftMs <= longestWaitMs || isCutShort || !isStillOpen(answer)) return answer
      answeredAt = performance.now()
    } catch (error) {
      if (!isOver && isAborted()) {
        if (route.operationId === 'claimExecutions') return { claims: [], more: false }
        continue
      }
      if (outlasts(route, error) && performance.now() < Math.min(until, answeredAt + longestOutageMs)) {
        await pause(signal)
        continue
      }
      if (!EngineError.is(error, 'wait_timed_out')) throw error
      if (leftMs <= longestWaitMs) throw inAll(error, totalMs)
      answeredAt = performance.now()
    }
  }
}

/**
 * A wait that only reads survives the loss of the server or of its database, for as long as the caller's time lasts.
 */
function outlasts({ method }: Route, error: unknown): boolean {
  return method === 'GET' && isOutage(error)
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await sleep(betweenTriesMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _, ...rest } = fields
  return rest
}

/** Nothing was claimed, or has ended, so far. */
function isStillOpen(answer: unknown): boolean {
  const { kind, claims } = (answer ?? {}) as { kind?: unknown; claims?: readonly unknown[] }
  return kind === 'pending' || claims?.length === 0
}

// The error of the last request names only its own part of the time.
function inAll(error: EngineError, timeoutMs: number): EngineError {
  const sentence = error.message.replace(/within \d+ ms/, `within ${timeoutMs} ms`)
  return new EngineError(error.code, sentence, { ...error.details, timeoutMs }, { cause: error })
}
