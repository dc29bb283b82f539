// The router, and the variables of a request.
import { randomUUID } from 'node:crypto'
import { Hono, type Context } from 'hono'
import { headers } from '../api/headers.ts'
import type { RequestFacts } from './gate.ts'
import { proxyShownBy, type TrustedProxies } from './proxy.ts'

interface Known {
  Variables: {
    requestId: string
    /** The path pattern of the route, so that metrics have few labels; unset for an unknown path. */
    path?: string
    /** The client at the other end of the connection, or the one that trusted proxies name. */
    address: string
    /** The namespace of requests that name none; unset if the client does not need it. */
    namespace?: string
  }
  /** Set when the server listens by itself; empty when it is mounted. */
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

/** The part of a request that the gate reads. */
export function requestFactsOf(context: AppContext): RequestFacts {
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
