// The ways to submit: one, many at once, as fast as callers can, or at a steady pace.
import { setTimeout } from 'node:timers/promises'
import { machineTime } from '../clock.ts'
import { makePayload } from '../peers/payload.ts'
import type { Submitter } from '../peers/contract.ts'

/** When each was submitted, by its sequence; nothing for a load. */
export type Submitted = readonly (readonly [sequence: number, atMs: number])[]

const batchSize = 1000
const callerCount = 64

export class Sending {
  readonly #submitter: Submitter
  #sequence = 0

  constructor(submitter: Submitter) {
    this.#submitter = submitter
  }

  async one(): Promise<Submitted> {
    const sequence = this.#sequence++
    const atMs = machineTime()
    await this.#submitter.create(makePayload(sequence))
    return [[sequence, atMs]]
  }

  async load(count: number): Promise<Submitted> {
    for (let left = count; left > 0; left -= batchSize) {
      const length = Math.min(batchSize, left)
      await this.#submitter.createMany(Array.from({ length }, () => makePayload(this.#sequence++)))
    }
    return []
  }

  /** Each caller sends its next request when the last is committed. */
  async flood(ms: number): Promise<Submitted> {
    const sent: (readonly [number, number])[] = []
    const until = machineTime() + ms
    const call = async () => {
      while (machineTime() < until) sent.push(...(await this.one()))
    }
    await Promise.all(Array.from({ length: callerCount }, call))
    return sent
  }

  // Each counts from its due time: a submission that the machine delays has waited already.
  async pace(ms: number, perSecond: number): Promise<Submitted> {
    const sent: [number, number][] = []
    const commits: Promise<unknown>[] = []
    const startedAt = machineTime()
    const count = Math.floor((ms / 1000) * perSecond)
    while (sent.length < count) {
      const due = Math.min(count, Math.ceil(((machineTime() - startedAt) / 1000) * perSecond))
      while (sent.length < due) {
        const sequence = this.#sequence++
        sent.push([sequence, startedAt + (sent.length * 1000) / perSecond])
        commits.push(this.#submitter.create(makePayload(sequence)))
      }
      await setTimeout(1)
    }
    await Promise.all(commits)
    return sent
  }
}
