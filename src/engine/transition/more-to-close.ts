// Executions that this process holds and that have more to close than themselves: a claim or a waitpoint said so. The write that ends
// such a lease uses the whole form of its statement at once. Where this is not known, the plain form finds out, and writes nothing.
const mostRemembered = 10_000

export class MoreToClose {
  readonly #uuids = new Set<string>()

  add(uuid: string): void {
    this.#uuids.add(uuid)
    if (this.#uuids.size > mostRemembered) this.#uuids.delete(this.#uuids.values().next().value!)
  }

  /** Once: the write that asks ends the lease. */
  take(uuid: string): boolean {
    return this.#uuids.delete(uuid)
  }
}
