import { expect, onTestFinished, test } from 'vitest'
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

test('the page says what is asked, by whom and about what, and opening it answers nothing', async () => {
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
  [{ action: 'seen' }, undefined, true],
] as const)('by a link %j the code that waits is told %s as %s', async (answers, action, approved) => {
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
  expect(await run.result()).toEqual({ approved, action: action ?? answers.action })
})

test('what another has answered is over for this link', async () => {
  const { app, engine } = await appSetup()
  const waiting = await waitingFor(engine, 'go live')
  const url = await linkTo(engine, waiting)
  await engine.signals.deliver({ waitpointId: waiting.waitpointId, token: waiting.token, name: 'approved' })
  expect((await visit(app, url)).text).toContain('Nothing to answer any more')
})

test('a link that is wrong or whose time is over tells nothing of what it was for', async () => {
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

test('the answer must come from the page itself, and be one that the link may give', async () => {
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
