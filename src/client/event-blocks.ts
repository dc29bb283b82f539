// Reads server-sent events block by block, on demand: a slow reader slows down the sender and costs no memory.
import type { IncomingMessage } from 'node:http'

export interface Block {
  readonly id: string | null
  readonly event: string | null
  readonly data: string | null
}

export class EventBlocks {
  readonly #answer: IncomingMessage
  readonly #chunks: AsyncIterator<Buffer>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(answer: IncomingMessage) {
    this.#answer = answer
    this.#chunks = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }

  /** Null when the stream is over, which only the last block of the server may report. */
  async next(): Promise<Block | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return parse(block)
      }
      const chunk = await this.#chunks.next()
      if (chunk.done === true) return null
      this.#text += this.#decoder.decode(chunk.value, { stream: true })
    }
  }

  close(): void {
    this.#answer.destroy()
  }
}

function parse(text: string): Block {
  const fields = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields.set(name, value!)
  }
  return { id: fields.get('id') ?? null, event: fields.get('event') ?? null, data: fields.get('data') ?? null }
}
