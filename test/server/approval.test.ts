import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/model/errors.ts'
import { createApp, type App } from '../../src/server/app.ts'
import { task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { working } from '../worker/working.ts'
import { appSetup } from './app-setup.ts'
import { linkTo, waitingFor } from './suspended.ts'

interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

async function visit(app: App, url: URL | string, form?: Record<string, string>, origin?: string): Promise<Page> {
  const response = await app.fetch(
    new Request(url, {
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
      headers: { host: 'localhost', ...(origin !== undefined && { origin }) },
    }),
  )
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const page = 'http://localhost/approve'
const payload = Buffer.from(JSON.stringify({ to: 'production', note: '<script>alert(1)</script>' }))

test('the page shows the question, its author and its subject, and opening it answers nothing', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live', { creator: 'Ann <ann@example.com>', payload })
  const shown = await visit(app, await linkTo(engine, waiting))
  expect(shown.status).toBe(200)
  for (const part of ['deploy asks for go live', 'Ann &lt;ann@example.com&gt;', 'production', 'Approve', 'Refuse']) {
    expect(shown.text).toContain(part)
  }
  expect(shown.text).not.toContain('<script')
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(shown.headers.get('cache-control')).toBe('no-store')
  expect((await engine.executions.describe(waiting.executionId))?.publicState).toBe('suspended')
})

test('a page that fails after its answer was accepted does not say that it was refused', async () => {
  const { engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const url = await linkTo(engine, waiting)
  let isAnswered = false
  const failing = (one: Engine): Engine => ({
    ...one,
    as: (caller) => failing(one.as(caller)),
    signals: {
      ...one.signals,
      redeem: async (request) => {
        const redeemed = await one.signals.redeem(request)
        isAnswered = true
        return redeemed
      },
    },
    waitpoints: {
      ...one.waitpoints,
      describeLink: async (request) => {
        if (isAnswered) throw new EngineError('database_unreachable', 'the connection was lost')
        return one.waitpoints.describeLink(request)
      },
    },
  })
  const app = createApp(failing(engine))
  onTestFinished(() => app.stop())
  const link = new URL(url).searchParams.get('link')!
  const shown = await visit(app, page, { link, action: 'approved' })
  expect([shown.status, isAnswered]).toEqual([503, true])
  expect(shown.text).toContain('it shows whether your answer was taken')
  expect(shown.text).not.toContain('Nothing was answered')
})

test('an answer with a comment resumes the execution, and the same link answers once', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const url = await linkTo(engine, waiting)
  const link = url.searchParams.get('link')!
  const answered = await visit(app, page, { link, action: 'rejected', comment: 'not on a Friday' }, 'http://localhost')
  expect(answered.text).toContain('Your answer was <strong>rejected</strong>')
  const { signals } = await engine.signals.list(waiting.executionId)
  expect(signals).toMatchObject([{ name: 'rejected', source: { type: 'link' } }])
  expect(JSON.parse(Buffer.from(signals[0]!.payload!).toString())).toEqual({
    approved: false,
    action: 'rejected',
    comment: 'not on a Friday',
  })
  const again = await visit(app, page, { link, action: 'approved', comment: '' })
  expect(again.text).toContain('Your answer was <strong>rejected</strong>')
  expect((await engine.signals.list(waiting.executionId)).signals).toHaveLength(1)
  expect((await visit(app, url)).text).toContain('Thank you')
})

test.each([
  [{ action: 'approved', refusal: 'rejected' }, 'approved', true],
  [{ action: 'approved', refusal: 'rejected' }, 'rejected', false],
  [{ action: 'rejected', refusal: 'approved' }, 'approved', true],
  [{ action: 'ship', refusal: 'hold' }, 'ship', true],
  [{ action: 'ship', refusal: 'hold' }, 'hold', false],
  [{ action: 'refused' }, 'refused', false],
  [{ action: 'seen' }, undefined, undefined],
  [{ action: 'declined' }, undefined, false],
  [{ action: 'deny' }, undefined, false],
  [{ action: 'no' }, undefined, false],
] as const)('by a link %j the waiting code receives %s as %s', async (answers, action, approved) => {
  const mailed: string[] = []
  const release = task('release', async (ctx) => {
    const approval = await ctx.waitpoint('approval')
    await ctx.step('mail', async () => mailed.push(await approval.url(page, { ...answers, expiresIn: '1h' })))
    return ctx.waitFor(approval)
  })
  const { engine, submit, worker, runAll } = await working([release])
  const app = createApp(engine, { authenticate: null })
  onTestFinished(() => app.stop())
  const run = await submit(release)
  await worker.tick()
  const link = new URL(mailed[0]!).searchParams.get('link')!
  await visit(app, page, { link, ...(action !== undefined && { action }) })
  await runAll()
  expect(await run.result()).toStrictEqual({
    ...(approved !== undefined && { approved }),
    action: action ?? answers.action,
  })
})

test('the page names the person whom the link was issued for, and marks the creator as not verified', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live', { creator: 'the CEO' })
  const shown = await visit(app, await linkTo(engine, waiting, { for: 'Ada <Lovelace>' }))
  expect(shown.text).toContain('Ada &lt;Lovelace&gt;')
  expect(shown.text).toContain('the CEO (not verified)')
  expect(shown.text).not.toContain('Asked by')
})

test('characters that turn text around or hide in it are spelled out, wherever they come from', async () => {
  const { app, engine } = await appSetup()
  const hidden = 'a\u202eb\u200bc'
  const payload = Buffer.from(JSON.stringify({ note: hidden }))
  const waiting = await waitingFor(engine, hidden, { creator: hidden, payload, kind: hidden })
  const shown = await visit(app, await linkTo(engine, waiting, { action: hidden, for: hidden }))
  expect(shown.text.replaceAll(/ value="[^"]*"/g, '')).not.toMatch(/[\u202e\u200b]/)
  expect(shown.text.split('a\\u{202e}b\\u{200b}c').length).toBeGreaterThan(6)
})

test.each([
  ['another host', { hosts: ['ours.example.com'] }, 403],
  ['too many requests', { authenticate: async () => null, rateLimit: { perAddress: 1 } }, 429],
] as const)('a person who is refused for %s reads a page, with the headers of the page', async (_, options, status) => {
  const { app, engine } = await appSetup(options)
  const url = await linkTo(engine, await waitingFor(engine, 'go live', { payload }))
  const pages = await Promise.all([1, 2, 3].map(() => visit(app, url)))
  const refused = pages.find((page) => page.status === status)!
  expect(refused.headers.get('content-type')).toContain('text/html')
  expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(refused.headers.get('retry-after')).toBe(status === 429 ? '1' : null)
  expect(refused.text).toContain('<h1>')
  expect(refused.text).not.toContain('production')
})

test('a link is over when another answer has closed its waitpoint', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const url = await linkTo(engine, waiting)
  await engine.signals.deliver({ waitpointId: waiting.waitpointId, token: waiting.token, name: 'approved' })
  expect((await visit(app, url)).text).toContain('Nothing to answer any more')
})

test('a wrong or expired link reveals nothing of its subject', async () => {
  const { app, engine, clock } = await appSetup()
  const waiting = await waitingFor(engine, 'go live', { payload })
  const url = await linkTo(engine, waiting)
  for (const link of ['', 'abc', url.searchParams.get('link')!.replace(/^./, 'X')]) {
    const shown = await visit(app, `${page}?link=${link}`)
    expect(shown).toMatchObject({ status: 400, text: expect.stringContaining('This link is not valid') })
    expect(shown.text).not.toContain('production')
  }
  await clock.advance('2h')
  expect((await visit(app, url)).text).toContain('This link is not valid')
})

test('the answer must come from the page itself, and be one that the link permits', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const link = (await linkTo(engine, waiting)).searchParams.get('link')!
  const foreign = await visit(app, page, { link, action: 'approved' }, 'https://evil.example.com')
  expect(foreign.status).toBe(403)
  expect((await visit(app, page, { link, action: 'deleted' })).status).toBe(400)
  expect((await engine.signals.list(waiting.executionId)).signals).toEqual([])
})

test('a link with one answer has one, and a refusal must differ from it', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const { waitpointId } = waiting
  const { url } = await engine.waitpoints.link({ waitpointId, base: page, action: 'seen', expiresIn: '1h' })
  const shown = await visit(app, url)
  expect(shown.text).toContain('>seen</button>')
  expect(shown.text.match(/<button/g)).toHaveLength(1)
  await refusal('invalid_input', linkTo(engine, waiting, { refusal: 'approved' }))
  await refusal('invalid_input', linkTo(engine, waiting, { refusal: '' }))
})
