// A reader of server-sent events, in the test's process: blocks as they arrive.
import { onTestFinished } from 'vitest'
import type { App } from '../../src/server/app.ts'

export interface Block {
  readonly id?: string
  readonly event?: string
  readonly data?: any
}

export interface Blocks {
  readonly status: number
  /** The next block that has data. */
  next(): Promise<Block>
  /** The next block, with data or not; null when the stream is over. */
  any(): Promise<Block | null>
  end(): Promise<void>
}

export async function listen(app: App, path: string, headers: Record<string, string> = {}): Promise<Blocks> {
  const request = new Request(`http://localhost${path}`, { headers: { accept: 'text/event-stream', ...headers } })
  const response = await app.fetch(request)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const end = (): Promise<void> => reader.cancel().catch(() => {})
  onTestFinished(end)
  let text = ''
  const any = async (): Promise<Block | null> => {
    while (!text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) return null
      text += value
    }
    const at = text.indexOf('\n\n')
    const block = parse(text.slice(0, at))
    text = text.slice(at + 2)
    return block
  }
  const next = async (): Promise<Block> => {
    for (;;) {
      const block = await any()
      if (block === null) throw new Error('the stream is over')
      if (block.data !== undefined) return block
    }
  }
  return { status: response.status, next, any, end }
}

function parse(text: string): Block {
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
  return { ...fields, ...(fields.data !== undefined && { data: JSON.parse(fields.data) }) }
}
