// An app on the test's database, and a function that sends requests to it: it checks every answer against the shape that
// the route documents.
import { expect, onTestFinished } from 'vitest'
import { operations, type Operation } from '../../src/api/routes.ts'
import { shapesOf } from '../../src/server/shapes.ts'
import { createApp, type App, type AppOptions } from '../../src/server/app.ts'
import { setup, type Fixture } from '../support/setup.ts'

export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export interface AppFixture extends Fixture {
  readonly app: App
  readonly ask: Ask
}

type Ask = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Asked>

export async function appSetup(options: Partial<AppOptions> = {}): Promise<AppFixture> {
  const fixture = await setup()
  const app = createApp(fixture.engine, { authenticate: null, ...options })
  onTestFinished(() => app.stop())
  return { ...fixture, app, ask: asking(app) }
}

export function asking(app: App): Ask {
  return async (method, path, body, headers = {}) => {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body!.cancel()
      return { status: response.status, headers: response.headers, body: null }
    }
    const text = await response.text()
    const answer = text === '' ? null : (JSON.parse(text) as unknown)
    holdToShape(method, path, response, answer)
    return { status: response.status, headers: response.headers, body: answer }
  }
}

function holdToShape(method: string, path: string, response: Response, answer: unknown): void {
  if (response.status >= 400) {
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(answer).toMatchObject({ status: response.status, code: expect.any(String), detail: expect.any(String) })
    return
  }
  const operation = operationAt(method, path)
  if (operation === undefined) return
  const { answer: shape } = shapesOf(operation.noun, operation.verb)
  if (shape === null) expect(answer).toBeNull()
  else expect(shape.safeParse(answer).error?.issues ?? []).toEqual([])
}

function operationAt(method: string, path: string): Operation | undefined {
  const [bare = ''] = path.split('?')
  const fits = ({ route }: Operation): boolean =>
    route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare)
  return operations.toSorted((a, b) => a.route.path.split('{').length - b.route.path.split('{').length).find(fits)
}

export function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
