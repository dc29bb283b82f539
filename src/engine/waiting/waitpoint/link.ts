// An approval link: it permits one action on one waitpoint, once and until it expires. Created by a caller with the
// right to act in the namespace, and recorded by an event before the link is returned.
import { randomBytes } from 'node:crypto'
import { checkAction, checkPerson, signLink } from '../../../model/approval-link.ts'
import { EngineError, refusal } from '../../../model/errors.ts'
import { checkedBy, duration, id, unchecked } from '../../../model/field-kinds.ts'
import { checkFields, type RequestOf, type Wire } from '../../../model/field.ts'
import { formatWaitpointId, parseWaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import type { WaitpointState } from '../../../model/suspension.ts'
import { show } from '../../../model/text.ts'
import { call, type RowsOf, type Sql } from '../../../sql/sql.ts'
import { oneOf, statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { untilSent } from '../../kernel/resend.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored, signingKeyOf, storedKeyRow } from '../../signing-key/stored-key.ts'
import { stateNowSql } from './state-now.ts'
import { tokenEventCall } from './token-events.ts'

const line = (maxBytes: number): Wire => ({ kind: 'text', rule: { minBytes: 1, maxBytes, refuseControls: true } })

export const linkFields = {
  waitpointId: id('waitpoint'),
  /**
   * The URL of the page that opens it. Optional over HTTP if the server has a public URL: then it is that server's
   * page.
   */
  base: unchecked<string>({ kind: 'named', name: 'linkBase' })
    .optional()
    .describe(
      'The URL of the page that opens it. Defaults to the page of the server, when the server has a public URL.',
    ),
  /** The name of the signal that it sends: `approved`, `rejected`. */
  action: checkedBy<string>(checkAction, line(limits.linkActionBytes)).describe(
    'The name of the signal that it sends.',
  ),
  /** The name of the signal of the opposite decision, if the link allows it; a link sends one of them, once. */
  refusal: checkedBy<string>(checkAction, line(limits.linkActionBytes))
    .optional()
    .describe('The name of the signal that refuses.'),
  /** The person whom it is issued for: the source of its signal, which conditions match and count. */
  for: checkedBy<string>(checkPerson, line(limits.linkPersonBytes))
    .optional()
    .describe('The person that it is issued for, recorded as the source of the signal.'),
  expiresIn: duration(),
}

export interface LinkRequest extends RequestOf<typeof linkFields> {}

export interface ApprovalUrl {
  /** The base with a parameter `link`, which `signals.redeem` accepts. */
  readonly url: string
  readonly expiresAt: number
}

const findStatement = statement({
  name: 'waitpoint.link',
  params: { waitpoint_id: 'uuid', partition_key: 'int2', namespace: 'text?', expires_in_ms: 'int8' },
  row: { execution_id: 'uuid', state: oneOf<WaitpointState>(), now_ms: 'int8', expires_at_ms: 'int8', ...storedKeyRow },
  text: `
with found as materialized (
  select e.execution_id, e.namespace, ${stateNowSql('p')} as state, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
  for key share of e
)
select f.execution_id, f.state, f.now_ms, f.now_ms + $4 as expires_at_ms, signing.*
from found f${signingKeyOf('f.namespace')}`,
})

export async function link(sql: Sql, keys: SigningKeys, caller: Caller, request: LinkRequest): Promise<ApprovalUrl> {
  const checked = checkFields('waitpoints.link', linkFields, request)
  const { partition, uuid } = parseWaitpointId(request.waitpointId)
  const waitpointId = formatWaitpointId(partition, uuid)
  const url = checkBase(request.base)
  const { action, refusal: opposite, expiresInMs } = checked
  if (opposite === action) throw sameAction(action)
  const actions = opposite === null ? [action] : [action, opposite]
  const person = checked.for ?? ''
  await keys.ready()
  const find = call(findStatement, {
    waitpoint_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    expires_in_ms: expiresInMs,
  })
  const nonce = randomBytes(12).toString('base64url')
  let expiresAt = 0
  const decide = ([[found]]: RowsOf<readonly [typeof find]>) => {
    if (found === undefined || !isStored(found)) {
      throw new EngineError('waitpoint_not_found', `waitpoint ${waitpointId} does not exist`, { waitpointId })
    }
    if (found.state === 'closed') {
      const sentence = `waitpoint ${waitpointId} is closed; you cannot create a link to it`
      throw new EngineError('waitpoint_closed', sentence, { waitpointId })
    }
    expiresAt = found.expires_at_ms
    url.searchParams.set('link', signLink(keys.open(found), { waitpointId, actions, person, expiresAt, nonce }))
    const options = { ...(opposite !== null && { refusal: opposite }), ...(person !== '' && { for: person }) }
    return [tokenEventCall(caller, found, { waitpointId, action, ...options, expiresAt })]
  }
  await untilSent(sql, { again: false }, () => sql.decide([find], decide))
  return { url: url.href, expiresAt }
}

function sameAction(action: string): EngineError {
  return new EngineError(
    'invalid_input',
    `refusal is ${show(action)}, the same as action; choose another signal name`,
    {
      field: 'refusal',
    },
  )
}

function checkBase(base: unknown): URL {
  const url = typeof base === 'string' && URL.canParse(base) ? new URL(base) : null
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url
  if (base === undefined) {
    const sentence = 'the link needs base, the URL of the page that opens it; a server with a public URL uses its own'
    throw new EngineError('invalid_input', sentence, { field: 'base' })
  }
  throw refusal('invalid_input', 'base', show(base), 'an http:// or https:// URL')
}
