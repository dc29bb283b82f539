// A server in front of which the test decides the fate of each answer: it passes, is lost after the work was done, or
// comes from elsewhere.
import { onTestFinished } from 'vitest'
import { openClient, type OpenClient, type OpenClientOptions } from '../../src/client/open.ts'
import { createApp, type App, type AppOptions } from '../../src/server/app.ts'
import { listenWith } from '../support/serve-http.ts'
import { setup, type Fixture } from '../support/setup.ts'

/** Handles one request. When it returns `lost`, the client receives no answer. */
type Fate = (request: Request, pass: (app?: App) => Promise<Response>) => Promise<Response | Lost>

const lost = Symbol('lost')
type Lost = typeof lost

export interface Front extends Fixture {
  /** The URL of the database. */
  readonly database: string
  /** The URL of the server. */
  readonly url: string
  /** The client of that server. */
  readonly client: OpenClient
  readonly app: App
  readonly anotherApp: () => App
  /** The fates of the next requests, in order. */
  readonly next: Fate[]
  /** Method and path of all requests, and their ids. */
  readonly asked: { readonly what: string; readonly requestId: string | null }[]
}

export async function front(
  options: OpenClientOptions = {},
  appOptions: Partial<AppOptions> = {},
  fixture?: Fixture,
): Promise<Front> {
  const { engine: local, ...rest } = fixture ?? (await setup())
  const makeApp = (): App => createApp(local, { authenticate: null, ...appOptions })
  const apps = [makeApp()]
  const next: Fate[] = []
  const asked: Front['asked'] = []
  const { url, close } = await listenWith(async (request, { socket }) => {
    const { pathname } = new URL(request.url)
    asked.push({ what: `${request.method} ${pathname}`, requestId: request.headers.get('x-request-id') })
    const pass = async (app = apps[0]!): Promise<Response> => app.fetch(request)
    const answer = await (next.shift()?.(request, pass) ?? pass())
    if (answer !== lost) return answer
    socket.destroy()
    return new Response(null)
  })
  const client = await openClient(url, { patienceMs: 5000, ...options })
  asked.length = 0
  onTestFinished(async () => {
    await client.close(1000)
    for (const app of apps) app.stop()
    await close()
  })
  const anotherApp = (): App => {
    const app = makeApp()
    apps.push(app)
    return app
  }
  return { ...rest, database: rest.url, engine: client.engine, url, client, app: apps[0]!, anotherApp, next, asked }
}

/** The server does the work, and its answer is lost. */
export const lostAnswer: Fate = async (_, pass) => {
  await (await pass()).text()
  return lost
}

export const badGateway: Fate = async () =>
  new Response('<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1>nginx</body></html>', {
    status: 502,
    headers: { 'content-type': 'text/html' },
  })
