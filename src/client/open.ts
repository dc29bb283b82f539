// Opens a server by its URL. One request checks at once that the server is reachable, is ours and accepts the key, so
// that a later call does not fail by it.
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Engine } from '../engine/contract.ts'
import { unbound } from './caller-headers.ts'
import { Client, type ConnectionWatcher } from './client.ts'
import { engineOver } from './engine.ts'

export interface OpenClientOptions {
  /** An API key of the server. */
  readonly token?: string | undefined
  /** How long a reply may take, besides the time that the request itself waits; defaults to 30 s. */
  readonly timeoutMs?: number
  /** How long calls that are safe to repeat are sent again; defaults to 10 s. */
  readonly patienceMs?: number
  /** The longest wait of one request; defaults to 25 s. */
  readonly longestWaitMs?: number
  readonly watcher?: ConnectionWatcher
}

export interface OpenClient {
  readonly engine: Engine
  /** Refuses new calls, and lets accepted calls finish within this time. */
  close(longestMs: number): Promise<void>
}

export async function openClient(url: string, options: OpenClientOptions = {}): Promise<OpenClient> {
  const { token, timeoutMs = 30_000, patienceMs = 10_000, longestWaitMs = 25_000, watcher } = options
  const client = new Client(parseBase(url), { token: checkToken(token), timeoutMs, patienceMs, longestWaitMs, watcher })
  const engine = engineOver(client, unbound)
  try {
    await engine.serverTime()
  } catch (error) {
    await client.close(0)
    throw error
  }
  return { engine, close: (longestMs) => client.close(longestMs) }
}

function parseBase(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : null
  if (base === null) throw new EngineError('invalid_url', `the URL is ${show(url)}; write http://host:port`)
  if (base.username !== '' || base.password !== '') {
    const sentence = `the URL of ${base.host} carries a user or password; give the API key as the option token instead`
    throw new EngineError('invalid_url', sentence)
  }
  if (base.search === '' && base.hash === '') return base
  throw new EngineError('invalid_url', `the URL is ${show(url)}; a server's URL has nothing after its path`)
}

function checkToken(token: unknown): string | undefined {
  if (token === undefined) return undefined
  if (typeof token === 'string' && /^[\w.~+/=:-]+$/.test(token)) return token
  throw refusal(
    'invalid_input',
    'token',
    typeof token === 'string' ? 'no key' : show(token),
    'an API key of the server',
  )
}
