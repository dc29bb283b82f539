// Executions that this process has leased and that have other rows to close, as reported by a claim or a waitpoint. The write that
// ends such a lease uses the whole form of its statement at once. If this is not known, the plain form detects it and writes nothing.
const mostRemembered = 10_000

export class MoreToClose {
  readonly #uuids = new Set<string>()

  add(uuid: string): void {
    this.#uuids.add(uuid)
    if (this.#uuids.size > mostRemembered) this.#uuids.delete(this.#uuids.values().next().value!)
  }

  /** Removes the entry: the write that reads it ends the lease. */
  take(uuid: string): boolean {
    return this.#uuids.delete(uuid)
  }
}
