// The page at the root of a server. It needs no key, so it shows nothing about the database, its namespaces or its
// keys.
import { html } from 'hono/html'
import type { AppContext, Router } from './router.ts'

const docs = 'README.md of the npm package flowfabric'

export function addRootPage(app: Router, basePath: string): void {
  const places = {
    openapi: `${basePath}/openapi.json`,
    health: `${basePath}/livez`,
    readiness: `${basePath}/readyz`,
    executions: `${basePath}/v1/executions`,
  }
  const page = pageOf(places)
  const answer = (context: AppContext): Response | Promise<Response> => {
    context.set('path', '/')
    context.header('vary', 'accept')
    if (!wantsPage(context.req.header('accept'))) return context.json({ name: 'FlowFabric', about, docs, ...places })
    context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    return context.html(page)
  }
  app.get('/', answer)
}

const about = 'A FlowFabric server: durable executions over HTTP. Send an API key as a bearer token.'

/** Browsers name text/html; curl and most programs accept anything, and get JSON. */
function wantsPage(accept: string | undefined): boolean {
  return accept?.split(',').some((type) => type.split(';')[0]!.trim().toLowerCase() === 'text/html') === true
}

function pageOf(places: Readonly<Record<'openapi' | 'health' | 'readiness' | 'executions', string>>) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>FlowFabric</title>
        <style>
          body {
            font:
              1rem/1.5 system-ui,
              sans-serif;
            max-width: 40rem;
            margin: 3rem auto;
            padding: 0 1rem;
          }
        </style>
      </head>
      <body>
        <main>
          <h1>FlowFabric</h1>
          <p>This is a FlowFabric server: durable executions over HTTP.</p>
          <ul>
            <li>Documentation: ${docs}</li>
            <li><a href="${places.openapi}">OpenAPI document</a>: every operation</li>
            <li><a href="${places.health}">Health</a> and <a href="${places.readiness}">readiness</a></li>
          </ul>
          <p>Send an API key as a bearer token to <code>${places.executions}</code> and the other operations.</p>
        </main>
      </body>
    </html>`
}
