// The router, and what is known of a request before anything is asked of it.
import { randomUUID } from 'node:crypto'
import { Hono, type Context } from 'hono'
import { headers } from '../api/headers.ts'
import type { Asking } from './gate.ts'
import { proxyShownBy, type TrustedProxies } from './proxy.ts'

interface Known {
  Variables: {
    requestId: string
    /** The path as its route has it, so that metrics know a few; unset when it is none of ours. */
    path?: string
    /** The client at the other end of the connection, or the one that trusted proxies name. */
    address: string
    /** Where whoever asks puts what names no namespace; unset where nobody needs to know. */
    namespace?: string
  }
  /** Where it listens by itself; nothing where it is mounted elsewhere. */
  Bindings: {
    incoming?: { readonly socket: { readonly remoteAddress?: string | undefined }; readonly httpVersion: string }
  }
}

export type Router = Hono<Known>
export type AppContext = Context<Known>

export function newRouter(basePath: string, proxies: TrustedProxies): Router {
  const app: Router = basePath === '' ? new Hono<Known>() : new Hono<Known>().basePath(basePath)
  app.use(async (context, next) => {
    context.set('requestId', requestIdOf(context.req.header(headers.requestId)))
    const peer = incomingOf(context)?.socket.remoteAddress ?? 'unknown'
    context.set('address', proxies.clientOf(peer, context.req.raw.headers))
    await next()
    context.header(headers.requestId, context.get('requestId'))
    context.header('x-content-type-options', 'nosniff')
    const namespace = context.get('namespace')
    if (namespace !== undefined) context.header(headers.namespace, encodeURIComponent(namespace))
  })
  return app
}

/** What the gate asks of a request. */
export function askingOf(context: AppContext): Asking {
  const { headers } = context.req.raw
  return {
    headers,
    address: context.get('address'),
    proxiedBy: () => proxyShownBy(headers, incomingOf(context)?.httpVersion),
  }
}

function incomingOf(context: AppContext): Known['Bindings']['incoming'] {
  return (context.env as Known['Bindings'] | undefined)?.incoming
}

function requestIdOf(given: string | undefined): string {
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}
