// The page of an approval link: the question, its sender, the data, and the possible decisions, with a comment. Plain
// HTML without a script. Opening the page decides nothing, because mail scanners follow links; the decision is a form
// that the person submits.
import { html, raw } from 'hono/html'
import type { Engine } from '../engine/contract.ts'
import type { LinkDetail } from '../engine/waiting/waitpoint/describe-link.ts'
import { consentOf } from '../model/consent.ts'
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { visible } from '../model/text.ts'
import { dataOf } from './approval-data.ts'
import { readBytes } from './body.ts'
import type { TakenBytes } from './body-budget.ts'
import { isSameOrigin } from './origin.ts'
import { headersFor } from './problem.ts'
import type { AppContext, Router } from './router.ts'

export const approvalPath = '/approve'

type Markup = ReturnType<typeof html>

/**
 * `admit` refuses a caller that sends too many requests, and counts the bytes of the others. `publicOrigin` is the
 * origin of the page, as browsers see it.
 */
export function addApprovalPage(
  app: Router,
  engine: Engine,
  admit: (context: AppContext) => Promise<TakenBytes>,
  publicOrigin: string | null,
): void {
  const bound = engine.as({ namespace: '*', actor: 'external' })
  app.get(approvalPath, async (context) => {
    context.set('path', approvalPath)
    await admit(context)
    const link = context.req.query('link') ?? ''
    return shown(context, askPage(link, await bound.waitpoints.describeLink({ link })))
  })
  app.post(approvalPath, async (context) => {
    context.set('path', approvalPath)
    const taken = await admit(context)
    refuseOtherPages(context.req.raw.headers, publicOrigin)
    const form = new URLSearchParams(await readForm(context.req.raw, taken))
    const { link, action, comment } = {
      link: form.get('link') ?? '',
      action: form.get('action'),
      comment: form.get('comment'),
    }
    const asked = await bound.waitpoints.describeLink({ link })
    if (asked.state !== 'open') return shown(context, askPage(link, asked))
    const payload = Buffer.from(JSON.stringify(answerOf(asked, action, comment)))
    await bound.signals.redeem({ link, payload, ...(action !== null && { action }) })
    return shown(context, askPage(link, await bound.waitpoints.describeLink({ link })))
  })
}

async function readForm(request: Request, taken: TakenBytes): Promise<string> {
  try {
    return (await readBytes(request, limits.controlBodyBytes, taken)).toString('utf8')
  } finally {
    taken.release()
  }
}

/** The payload of the decision. The waiting code reads it, not the name of the signal. */
function answerOf({ actions }: LinkDetail, given: string | null, comment: string | null): Record<string, unknown> {
  const action = given ?? actions[0]!
  const approved = consentOf(actions, action)
  return {
    ...(approved !== undefined && { approved }),
    action,
    ...(comment !== null && comment !== '' && { comment }),
  }
}

function shown(context: AppContext, page: Markup, status = 200): Response | Promise<Response> {
  context.header('content-security-policy', policy)
  // Other sites never receive the link as a referrer; our own form sends it.
  context.header('referrer-policy', 'same-origin')
  context.header('x-frame-options', 'DENY')
  context.header('cache-control', 'no-store')
  return context.html(page, status as 200)
}

/** An error on this page is shown to a person, as HTML. */
export function refusedPage(context: AppContext, error: EngineError): Response | Promise<Response> {
  for (const [name, value] of Object.entries(headersFor(error))) context.header(name, value)
  return shown(context, document(...wordsFor(error)), error.status)
}

function wordsFor({ code, status, message }: EngineError): [title: string, content: Markup] {
  if (code === 'invalid_token') {
    return ['This link is not valid', html`<p>It is wrong, or its time is over. Ask for a new one.</p>`]
  }
  if (status >= 500 || status === 429) {
    return [
      'This cannot be shown right now',
      html`<p>Open the link again in a moment; it shows whether your answer was taken.</p>`,
    ]
  }
  return ['This cannot be answered', html`<p>${visible(message)}</p>`]
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

function refuseOtherPages(headers: Headers, publicOrigin: string | null): void {
  const origin = headers.get('origin')
  if (origin === null || origin === publicOrigin || isSameOrigin(origin, headers.get('host') ?? '')) return
  throw new EngineError('forbidden', 'the answer came from a page of another origin; open the link itself', { origin })
}

function askPage(link: string, asked: LinkDetail): Markup {
  const { kind, creator, person, waitpointKey, state, suspendedAt } = asked
  const facts = html`<dl>
    <dt>What</dt>
    <dd>${visible(kind)}: <strong>${visible(waitpointKey)}</strong></dd>
    <dt>Created in the name of</dt>
    <dd>${visible(creator)} (not verified)</dd>
    ${
      person === null
        ? ''
        : html`<dt>Your answer counts as that of</dt>
            <dd>${visible(person)}</dd>`
    }
    ${
      suspendedAt === null
        ? ''
        : html`<dt>Waiting since</dt>
            <dd>${when(suspendedAt)}</dd>`
    }
    ${state === 'open' ? answerBefore(asked) : ''}
    <dt>Execution</dt>
    <dd><code>${asked.executionId}</code></dd>
  </dl>`
  const data = html`<h2>Data</h2>
    <pre tabindex="0" aria-label="Data">${dataOf(asked)}</pre>`
  if (state === 'used') {
    return document(
      'Thank you',
      html`<p role="status">Your answer was <strong>${visible(asked.usedAction ?? '')}</strong>.</p>
        ${facts}`,
    )
  }
  if (state === 'closed') {
    return document(
      'Nothing to answer any more',
      html`<p role="status">It was answered already, or is over.</p>
        ${facts}`,
    )
  }
  const [first, ...others] = asked.actions
  // Relative, so that it works at whatever path the app is mounted.
  const form = html`<form method="post" action="${approvalPath.slice(1)}">
    <input type="hidden" name="link" value="${link}" />
    <label for="comment">Comment (optional)</label>
    <textarea id="comment" name="comment" rows="3" maxlength="4000"></textarea>
    <div class="answers">
      <button name="action" value="${first!}">${label(first!)}</button>
      ${others.map((action) => html`<button name="action" value="${action}" class="other">${label(action)}</button>`)}
    </div>
  </form>`
  return document(visible(`${kind} asks for ${waitpointKey}`), html`${facts}${data}${form}`)
}

function answerBefore({ expiresAt, timeoutAt }: LinkDetail): Markup {
  return html`<dt>Answer before</dt>
    <dd>${when(Math.min(expiresAt, timeoutAt ?? expiresAt))}</dd>`
}

// Labels for people: the button Approve sends the signal `approved`.
const labels = new Map([
  ['approved', 'Approve'],
  ['rejected', 'Refuse'],
  ['refused', 'Refuse'],
])

function label(action: string): string {
  return labels.get(action) ?? visible(action)
}

function when(at: number): Markup {
  const text = new Date(at).toISOString()
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`
}

function document(title: string, content: Markup): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`
}

const style = `
:root { color-scheme: light dark; --line: #767676; --go: #0b6b3a; --stop: #8f1d1d }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 42rem; margin: 0 auto; padding: 2rem 1rem }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1rem; margin-bottom: .25rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem } dt { opacity: .75 } dd { margin: 0; overflow-wrap: anywhere }
pre { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; max-height: 20rem; overflow: auto; margin-top: 0 }
label { display: block; margin-bottom: .25rem }
textarea { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid var(--line); border-radius: .5rem }
.answers { display: flex; gap: .75rem; margin-top: 1rem; flex-wrap: wrap }
button { font: inherit; font-weight: 600; padding: .6rem 1.5rem; border: 0; border-radius: .5rem; color: #fff; background: var(--go); cursor: pointer }
button.other { background: var(--stop) } button:hover { filter: brightness(1.15) }
button:focus-visible, textarea:focus-visible, pre:focus-visible { outline: 3px solid #4a90d9; outline-offset: 2px }`
