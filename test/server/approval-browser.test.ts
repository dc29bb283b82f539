// The approval page as people use it: in a browser, without scripts, by keyboard, on a small screen, in the dark.
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { serve } from '../../src/server/serve.ts'
import { openChromium } from '../support/chromium.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { linkTo, waitingFor, type Waiting } from './suspended.ts'

let browser: Browser | null = null
// One project is enough: nothing here depends on the database.
const isOurs = inject('backend') === 'embedded'

beforeAll(async () => {
  if (isOurs) browser = await openChromium()
})
afterAll(async () => browser?.close())

interface Opened extends Fixture {
  readonly page: Page
  readonly url: string
  readonly waiting: Waiting
}

const order = { release: '2.14.0', to: 'production', steps: ['migrate', 'roll out', 'verify'], note: '<b>now</b>' }

async function opened(context: BrowserContextOptions = {}): Promise<Opened> {
  const fixture = await setup()
  const { engine } = fixture
  const server = await serve({
    ff: { engine, supervise: () => expect.unreachable('it has no duties'), close: async () => {} },
    port: 0,
    duties: false,
  })
  onTestFinished(async () => void (await server.stop()))
  const payload = Buffer.from(JSON.stringify(order))
  const waiting = await waitingFor(engine, 'go live', { creator: 'Ann Example', payload })
  const { href: url } = await linkTo(engine, waiting, { base: `${server.url}/approve` })
  const page = await browser!.newPage({ javaScriptEnabled: false, ...context })
  onTestFinished(() => page.close())
  await page.goto(url)
  return { ...fixture, page, url, waiting }
}

const inBrowser = test.skipIf(!isOurs)

function needBrowser(skip: (note: string) => never): void {
  if (browser === null) skip('there is no Chromium for this machine; CHROME_PATH may name one')
}

inBrowser(
  'the link shows the question, its author and the data, without a script, and asks for an answer',
  async ({ skip }) => {
    needBrowser(skip)
    const { page } = await opened()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('deploy asks for go live')
    const text = await page.getByRole('main').innerText()
    for (const part of ['Ann Example', '2.14.0', 'roll out', '<b>now</b>', 'Answer before'])
      expect(text).toContain(part)
    expect(await page.getByRole('button').allTextContents()).toEqual(['Approve', 'Refuse'])
  },
)

inBrowser('an answer with a comment is accepted once; the link then shows it', async ({ skip }) => {
  needBrowser(skip)
  const { page, url, waiting, engine } = await opened()
  await page.getByLabel('Comment').fill('after the freeze')
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await page.getByRole('status').textContent()).toBe('Your answer was approved.')
  const { signals } = await engine.signals.list(waiting.executionId)
  expect(signals).toMatchObject([{ name: 'approved' }])
  expect(JSON.parse(Buffer.from(signals[0]!.payload!).toString())).toEqual({
    approved: true,
    action: 'approved',
    comment: 'after the freeze',
  })
  await page.goto(url)
  expect(await page.getByRole('status').textContent()).toBe('Your answer was approved.')
  expect(await page.getByRole('button').count()).toBe(0)
})

inBrowser('a page that was left open cannot give a second answer', async ({ skip }) => {
  needBrowser(skip)
  const { page, url, waiting, engine } = await opened()
  const other = await browser!.newPage({ javaScriptEnabled: false })
  onTestFinished(() => other.close())
  await other.goto(url)
  await other.getByRole('button', { name: 'Refuse' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await page.getByRole('status').textContent()).toBe('Your answer was rejected.')
  expect((await engine.signals.list(waiting.executionId)).signals).toMatchObject([{ name: 'rejected' }])
})

inBrowser('a link whose time is over says so, whether it was open before or not', async ({ skip }) => {
  needBrowser(skip)
  const { page, url, clock, waiting, engine } = await opened()
  await clock.advance('2h')
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link is not valid')
  expect((await page.goto(url))?.status()).toBe(400)
  expect(await page.getByRole('main').innerText()).toContain('Ask for a new one')
  expect((await engine.signals.list(waiting.executionId)).signals).toEqual([])
})

inBrowser('the keyboard alone is enough', async ({ skip }) => {
  needBrowser(skip)
  const { page, waiting, engine } = await opened()
  await page.getByLabel('Comment').focus()
  await page.keyboard.type('no')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Refuse')
  await Promise.all([page.waitForURL('**/approve'), page.keyboard.press('Enter')])
  expect((await engine.signals.list(waiting.executionId)).signals).toMatchObject([{ name: 'rejected' }])
})

inBrowser.for(['light', 'dark'] as const)(
  'the page is accessible: labels, landmarks, contrast (%s)',
  async (colorScheme, { skip }) => {
    needBrowser(skip)
    const { page } = await opened({ colorScheme, javaScriptEnabled: true })
    const faults = async (): Promise<unknown> => {
      await page.evaluate(axe.source)
      const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    }
    expect(await faults()).toEqual([])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('status').waitFor()
    expect(await faults()).toEqual([])
    await page.goto(page.url() + '?link=wrong')
    expect(await faults()).toEqual([])
  },
)

inBrowser('on a small screen nothing overflows at the side', async ({ skip }) => {
  needBrowser(skip)
  const { page } = await opened({ viewport: { width: 320, height: 640 }, javaScriptEnabled: true })
  const root = 'document.documentElement'
  expect(await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)).toBe(0)
})
