// Opens a server by its URL: whether it is there, is ours and takes the key is asked at once, not by whoever calls first.
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Engine } from '../engine/contract.ts'
import { unbound } from './caller-headers.ts'
import { Client, type ConnectionWatcher } from './client.ts'
import { engineOver } from './engine.ts'

export interface OpenClientOptions {
  /** An API key of the server. */
  readonly token?: string | undefined
  /** How long an answer may take, besides what it is asked to wait; defaults to 30 s. */
  readonly timeoutMs?: number
  /** For how long what is safe to repeat is sent again; defaults to 10 s. */
  readonly patienceMs?: number
  /** What one request is asked to wait at most; defaults to 25 s. */
  readonly longestWaitMs?: number
  readonly watcher?: ConnectionWatcher
}

export interface OpenClient {
  readonly engine: Engine
  /** Lets what was accepted before be answered, within the time given; refuses what comes after. */
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
