// Joins single entries into batches. One batch is in flight; the entries that arrive meanwhile form the next. It uses no timer, so an
// idle process adds no latency, and a busy one sends hundreds of entries at once. Only a full batch is sent while another is in
// flight, because waiting would not make it larger.

export interface BatchBounds {
  readonly maxItems: number
  readonly maxBytes: number
  readonly maxInFlight: number
}

export interface Batching<Entry> {
  /** Resolves when the batch is done with, and another may be sent in its place. */
  send(batch: readonly Entry[]): Promise<void>
  /** Called when no entry waits and no batch is in flight any more. */
  onIdle?(): void
  bytesOf(entry: Entry): number
  /** Two entries with the same key never share a batch: the second waits until the batch of the first is taken. */
  keyOf?(entry: Entry): string
  /**
   * The row that the entry needs, where entries with different keys may need the same one. A batch ends before the first entry whose
   * row another batch in flight needs.
   */
  rowOf?(entry: Entry): string | undefined
}

export class Batcher<Entry> {
  readonly #batching: Batching<Entry>
  readonly #bounds: BatchBounds
  /** In the order of arrival, and one of each key. */
  readonly #waiting: Entry[] = []
  readonly #waitingKeys = new Set<string>()
  #waitingBytes = 0
  /** By key, the entries after the one that waits, so that a thousand entries with one key delay no other. */
  readonly #behind = new Map<string, Entry[]>()
  readonly #rowsInFlight = new Set<string>()
  #inFlight = 0
  #isScheduled = false

  constructor(batching: Batching<Entry>, bounds: BatchBounds) {
    this.#batching = batching
    this.#bounds = bounds
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#inFlight === 0
  }

  add(entry: Entry): void {
    this.#enqueue(entry)
    // A thousand entries that are added at once need not wait until the last of them was checked.
    if (this.#waiting.length === this.#bounds.maxItems) this.#sendNext()
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After a turn of the microtask queue, so that entries of one synchronous piece of code share the first batch too.
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#sendNext()
    })
  }

  #enqueue(entry: Entry): void {
    const key = this.#batching.keyOf?.(entry)
    if (key !== undefined && this.#waitingKeys.has(key)) {
      const behind = this.#behind.get(key)
      if (behind === undefined) this.#behind.set(key, [entry])
      else behind.push(entry)
      return
    }
    if (key !== undefined) this.#waitingKeys.add(key)
    this.#waiting.push(entry)
    this.#waitingBytes += this.#batching.bytesOf(entry)
  }

  #sendNext(): void {
    while (this.#waiting.length > 0 && this.#maySend()) void this.#send(this.#takeBatch())
  }

  async #send(batch: readonly Entry[]): Promise<void> {
    const rows = this.#rowsOf(batch)
    for (const row of rows) this.#rowsInFlight.add(row)
    this.#inFlight++
    try {
      await this.#batching.send(batch)
    } finally {
      this.#inFlight--
      for (const row of rows) this.#rowsInFlight.delete(row)
      this.#sendNext()
      if (this.isIdle) this.#batching.onIdle?.()
    }
  }

  #rowsOf(batch: readonly Entry[]): readonly string[] {
    if (this.#batching.rowOf === undefined) return []
    return batch.flatMap((entry) => this.#batching.rowOf?.(entry) ?? [])
  }

  #maySend(): boolean {
    const { maxItems, maxBytes, maxInFlight } = this.#bounds
    if (this.#inFlight === 0) return true
    if (this.#inFlight === maxInFlight) return false
    if (this.#waiting.length < maxItems && this.#waitingBytes < maxBytes) return false
    return this.#batching.rowOf === undefined || this.#nextBatch().isFull
  }

  /** The entries of the next batch, from the first on; it is full when no other would fit. */
  #nextBatch(): { readonly count: number; readonly bytes: number; readonly isFull: boolean } {
    const { maxItems, maxBytes } = this.#bounds
    let [count, bytes] = [0, 0]
    for (const entry of this.#waiting) {
      const size = this.#batching.bytesOf(entry)
      if (count === maxItems || (count > 0 && bytes + size > maxBytes)) return { count, bytes, isFull: true }
      if (this.#needsRowInFlight(entry)) return { count, bytes, isFull: false }
      count += 1
      bytes += size
    }
    return { count, bytes, isFull: count === maxItems || bytes >= maxBytes }
  }

  #needsRowInFlight(entry: Entry): boolean {
    const row = this.#batching.rowOf?.(entry)
    return row !== undefined && this.#rowsInFlight.has(row)
  }

  #takeBatch(): Entry[] {
    const { count, bytes } = this.#nextBatch()
    const batch = this.#waiting.splice(0, count)
    this.#waitingBytes -= bytes
    if (this.#batching.keyOf !== undefined) for (const entry of batch) this.#enqueueNext(this.#batching.keyOf(entry))
    return batch
  }

  #enqueueNext(key: string): void {
    this.#waitingKeys.delete(key)
    const behind = this.#behind.get(key)
    const next = behind?.shift()
    if (behind?.length === 0) this.#behind.delete(key)
    if (next !== undefined) this.#enqueue(next)
  }
}
