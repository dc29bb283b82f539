// Operations inside a transaction of the caller: its commit writes them, and its rollback undoes them. They are not merged
// with others, because a set has a transaction of its own. The transaction also sends their hint, at its commit.
import { EngineError } from '../model/errors.ts'
import { sqlState } from '../sql/errors.ts'
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'
import { acceptBareIds } from './kernel/bare-id.ts'
import { bindAll, type ForCaller } from './kernel/bound.ts'
import type { Caller } from './kernel/caller.ts'
import { cancelHeldOperation } from './execution/cancel-held.ts'
import {
  cancelOperation,
  checkCancelRequest,
  isByHolder,
  type CancelRequest,
  type CancelResult,
} from './execution/cancel.ts'
import { checkCreateRequest, type CreateRequest } from './execution/create-request.ts'
import type { CreateResult } from './execution/create-answer.ts'
import { createChildren } from './execution/create-child.ts'
import { createKeyed } from './execution/create.ts'
import { asEngineError, contended, databaseErrorOf, orEngineError } from './kernel/failure.ts'
import type { HintCarrier, Hints } from './kernel/hint.ts'
import { idPlaces } from './id-places.ts'
import { rowLocked, type SetOperation } from './kernel/merge.ts'
import type { QueueRegistry } from './queue/intern.ts'
import { untilSent } from './kernel/resend.ts'
import type { SignalResult } from './waiting/signal/incoming.ts'
import { receiveOperation } from './waiting/signal/receive.ts'
import { checkSendRequest, type SendRequest } from './waiting/signal/send.ts'
import type { SigningKeys } from './signing-key/keys.ts'
import type { TaskRegistry } from './task/registry.ts'
import { OpenedWaitpoints } from './waiting/waitpoint/opened.ts'

export interface Within {
  /** Accepts one unit of work; it can be claimed from the commit on. */
  submit(request: CreateRequest): Promise<CreateResult>
  /** To an execution by name; an execution that it wakes can be claimed from the commit on. */
  signal(request: SendRequest): Promise<SignalResult>
  cancel(request: CancelRequest): Promise<CancelResult>
}

interface WithinDeps {
  /** For work outside the transaction: lanes and queues, and blocks of the log, are created as always. */
  readonly session: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
  readonly hints: Hints
  readonly signingKeys: SigningKeys
}

// Unlike the engine's own hint, it must not turn off the caller's wait for the disk.
const notify = statement({
  name: 'within.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `
select pg_notify($1, $2) is not null as sent`,
})

// The lock timeout is the caller's own.
const patienceMs = 0

export function withinTransaction(deps: WithinDeps, borrowed: Sql, caller: Caller): Within {
  const { session, queues, tasks, hints, signingKeys } = deps
  /** One operation, and then the hint of its effects. The duties dispatch, because this process does not see the commit. */
  const perform = async <Item, Answer>(operation: SetOperation<Item, Answer>, item: Item): Promise<Answer> => {
    try {
      const sending = { again: false, onlyOnce: true }
      const sent = await untilSent(session, sending, () => operation.sendAlone(item, false, patienceMs))
      const outcome = sent.outcomes[0]!
      if (outcome === rowLocked) throw contended()
      if (EngineError.is(outcome)) throw outcome
      const hint = hints.hintOf(sent.effects)
      if (hint !== null) await borrowed.query(notify, { ...hint })
      return outcome
    } catch (error) {
      // The transaction's own snapshot does not show a row that was inserted after it.
      throw sqlState(databaseErrorOf(error)) === '23505' ? contended(error) : asEngineError(error)
    }
  }
  const own: ForCaller<Within> = {
    submit: async (caller, request) => {
      const item = await orEngineError(tasks.resolve(checkCreateRequest(caller, request)))
      const create = item.parent === null ? createKeyed : createChildren
      return perform(create(borrowed, queues), item)
    },
    signal: async (caller, request) => {
      const item = checkSendRequest(caller, request)
      return perform(receiveOperation(borrowed, signingKeys, new OpenedWaitpoints(), carriesNone), item)
    },
    cancel: async (caller, request) => {
      const item = checkCancelRequest(caller, request)
      return isByHolder(item) ? perform(cancelHeldOperation(borrowed), item) : perform(cancelOperation(borrowed), item)
    },
  }
  const { create, cancel } = idPlaces.executions!
  const places = { submit: create!, signal: idPlaces.signals!.send!, cancel: cancel! }
  return bindAll<Within>(caller, acceptBareIds(borrowed, own, places))
}

// The hint is a statement of its own in the transaction of the caller.
const carriesNone: HintCarrier = { carriedBy: () => null, carrier: () => null }
