// The router, and what is known of a request before anything is asked of it.
import { randomUUID } from 'node:crypto'
import { Hono, type Context } from 'hono'
import { headers } from '../api/headers.ts'

interface Known {
  Variables: {
    requestId: string
    /** The path as its route has it, so that metrics know a few; unset when it is none of ours. */
    path?: string
    /** Where whoever asks puts what names no namespace; unset where nobody needs to know. */
    namespace?: string
  }
  /** Where it listens by itself; nothing where it is mounted elsewhere. */
  Bindings: { incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } }
}

export type Router = Hono<Known>
export type AppContext = Context<Known>

export function newRouter(basePath: string): Router {
  const app: Router = basePath === '' ? new Hono<Known>() : new Hono<Known>().basePath(basePath)
  app.use(async (context, next) => {
    context.set('requestId', requestIdOf(context.req.header(headers.requestId)))
    await next()
    context.header(headers.requestId, context.get('requestId'))
    context.header('x-content-type-options', 'nosniff')
    const namespace = context.get('namespace')
    if (namespace !== undefined) context.header(headers.namespace, encodeURIComponent(namespace))
  })
  return app
}

/** Who is at the other end of the connection, which may be a proxy. */
export function addressOf(context: AppContext): string {
  const { incoming } = (context.env as Known['Bindings'] | undefined) ?? {}
  return incoming?.socket.remoteAddress ?? 'unknown'
}

function requestIdOf(given: string | undefined): string {
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}
