// For programs that start, watch and route to servers: whether the process is alive, and whether it can work now.
import { within } from '../engine/kernel/closing.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../model/errors.ts'
import type { Router } from './router.ts'

const longestMs = 2000
const keptMs = 1000

export function addHealth(app: Router, engine: Engine, stopping: AbortSignal): void {
  const readiness = new Readiness(engine)
  app.get('/livez', (context) => context.json({ status: 'ok' }))
  // The name of the same route in other FlowFabric servers, for programs that watch those too (HTTP-01).
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const status = stopping.aborted ? 'stopping' : await readiness.status()
    return context.json({ status }, status === 'ok' ? 200 : 503)
  })
}

type Status = 'ok' | 'database_unreachable' | 'code_too_old'

/** Queries the database once a second at most, however many requests come: they need no key, and are not limited. */
export class Readiness {
  readonly #engine: Engine
  readonly #now: () => number
  #status: Promise<Status> | null = null
  #until = 0

  constructor(engine: Engine, now: () => number = () => performance.now()) {
    this.#engine = engine
    this.#now = now
  }

  status(): Promise<Status> {
    if (this.#status !== null && this.#now() < this.#until) return this.#status
    this.#until = Infinity
    this.#status = statusOf(this.#engine).finally(() => (this.#until = this.#now() + keptMs))
    return this.#status
  }
}

async function statusOf(engine: Engine): Promise<Status> {
  let status: Status = 'database_unreachable'
  const asked = engine.serverTime().then(
    () => (status = 'ok'),
    (error: unknown) => {
      if (EngineError.is(error, 'code_too_old')) status = error.code
    },
  )
  await within(longestMs, asked)
  return status
}
