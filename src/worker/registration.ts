// Registers a worker, with its kinds and lanes, for as long as it runs: `explain` lists the registered workers that
// could claim an execution. Nothing depends on it; a failed call is repeated with the next heartbeat.
//
// The registered workers of the same lanes receive the same hints. So each waits a random time before it claims: hints
// that arrive meanwhile are coalesced, and the workers do not all claim at the same moment.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import type { RegisterRequest } from '../engine/worker/register.ts'
import { limits } from '../model/limits.ts'
import type { Settings } from './options.ts'
import { registeredTaskOf } from './submission.ts'

const beatEveryMs = limits.defaultWorkerTtlMs / 3
const longestFirstMs = 5000
const spreadForEachMs = 2
const longestSpreadMs = 20
/** More workers do not lengthen the wait. */
const enoughOthers = longestSpreadMs / spreadForEachMs

export class Registration {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #requests: readonly RegisterRequest[]
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()
  #isOver = false
  #otherCount = 0
  /** The namespaces in which its tasks are registered. They stay registered. */
  readonly #known = new Set<string | undefined>()

  constructor(engine: Engine, settings: Settings) {
    this.#engine = engine
    this.#settings = settings
    this.#requests = requestsOf(settings)
  }

  /** The longest random wait between a hint and the claim that it triggers. */
  get spreadMs(): number {
    return Math.min(longestSpreadMs, this.#otherCount * spreadForEachMs)
  }

  /** Resolves after the first try, or after five seconds: a worker also starts while the database is unreachable. */
  async start(): Promise<void> {
    this.#beating = this.#beat((request) => this.#register(request))
    const settled = new AbortController()
    const first = this.#beating.then(() => settled.abort())
    await Promise.race([first, sleep(longestFirstMs, undefined, { signal: settled.signal }).catch(() => {})])
  }

  /** Resolves when it is marked dead. */
  async stop(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#beating
    const reason = 'it has stopped'
    const goodbyes = this.#requests.map(({ workerInstanceId, namespace }) =>
      this.#engine.workers.markDead({ workerInstanceId, reason, ...(namespace !== undefined && { namespace }) }),
    )
    await Promise.allSettled(goodbyes)
  }

  async #beat(send: (request: RegisterRequest) => Promise<unknown>): Promise<void> {
    try {
      for (const request of this.#requests) await send(request)
      this.#otherCount = await this.#countOthers()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#settings.logger.debug(`the worker could not register; trying again: ${why}`)
    }
    if (this.#isOver) return
    const next = (): void => void (this.#beating = this.#beat((request) => this.#refresh(request)))
    this.#timer = setTimeout(next, beatEveryMs)
  }

  async #refresh(request: RegisterRequest): Promise<void> {
    const { workerInstanceId, namespace } = request
    const beat = { workerInstanceId, ...(namespace !== undefined && { namespace }) }
    const { kind } = await this.#engine.workers.heartbeat(beat)
    if (kind === 'not_registered') await this.#register(request)
  }

  // Registers its tasks once: later, they would replace those of newer code.
  async #register({ tasks, ...request }: RegisterRequest): Promise<void> {
    const isKnown = this.#known.has(request.namespace)
    await this.#engine.workers.register(isKnown || tasks === undefined ? request : { ...request, tasks })
    this.#known.add(request.namespace)
  }

  async #countOthers(): Promise<number> {
    const { lanes, workerInstanceId } = this.#settings.identity
    const { workers } = await this.#engine.workers.list({ limit: enoughOthers + this.#requests.length })
    const others = workers.filter(
      (other) => other.workerInstanceId !== workerInstanceId && other.lanes.some((lane) => lanes.includes(lane)),
    )
    return others.length
  }
}

/** One request for each namespace that it is bound to. */
function requestsOf({ served, identity }: Settings): readonly RegisterRequest[] {
  const { workerId, workerInstanceId, lanes, capabilities, namespaces } = identity
  const kinds = [...new Set(served.groups.flatMap((group) => group.kinds))]
  const versions = [...new Set(served.groups.flatMap((group) => group.versions))]
  const host = hostname()
  const request = {
    workerId,
    workerInstanceId,
    lanes,
    kinds,
    capabilities,
    pid: process.pid,
    tasks: served.tasks.map(registeredTaskOf),
    ...(versions.length > 0 && { versions }),
    ...(host !== '' && { host: host.slice(0, 64) }),
  }
  return namespaces === undefined ? [request] : namespaces.map((namespace) => ({ ...request, namespace }))
}
