// Operations inside a transaction of the caller's: they are written when it commits, and never were when it rolls back. Not
// merged with others, because a set has a transaction of its own. The hint goes with them, so it comes with the commit.
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
import { asEngineError, contended, throwInOurWords } from './kernel/failure.ts'
import type { CarriedHint, HintedTimer, Hinting, Hints } from './kernel/hint.ts'
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
  /** To an execution by name; what it wakes goes on from the commit on. */
  signal(request: SendRequest): Promise<SignalResult>
  cancel(request: CancelRequest): Promise<CancelResult>
}

interface WithinDeps {
  /** For what is not part of the transaction: queues are interned, and blocks of the log made, as always. */
  readonly sql: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
  readonly hints: Hints
  readonly signingKeys: SigningKeys
}

// As it is: the one that the engine sends by itself would let the caller's commit not wait for the disk.
const notify = statement({
  name: 'within.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `
select pg_notify($1, $2) is not null as sent`,
})

// The lock timeout is the caller's own.
const patienceMs = 0

export function withinTransaction(parts: WithinDeps, borrowed: Sql, caller: Caller): Within {
  const { sql, queues, tasks, hints, signingKeys } = parts
  /** One operation, and after it the hint of what it made ready. */
  const perform = async <Item, Answer>(
    operationOf: (hints: Hinting) => SetOperation<Item, Answer>,
    item: Item,
  ): Promise<Answer> => {
    const { hinting, ready, calledOff, dueMs } = collected()
    const operation = operationOf(hinting)
    try {
      const sending = { again: false, onlyOnce: true }
      const answer = await untilSent(sql, sending, () => operation.sendAlone(item, false, patienceMs))
      if (answer === rowLocked) throw contended()
      if (EngineError.is(answer)) throw answer
      await tell(hints.hintOf(ready, calledOff, dueMs))
      return answer
    } catch (error) {
      // Of a row that came after the transaction's own snapshot, which shows only what was there before.
      throw sqlState(error) === '23505' ? contended(error) : asEngineError(error)
    }
  }
  const tell = async (hint: CarriedHint | null): Promise<void> => {
    if (hint !== null) await borrowed.query(notify, { ...hint })
  }
  const own: ForCaller<Within> = {
    submit: async (caller, request) => {
      const item = await tasks.resolve(checkCreateRequest(caller, request)).catch(throwInOurWords)
      const create = item.parent === null ? createKeyed : createChildren
      return perform((hints) => create(borrowed, queues, hints.ring, (inMs) => hints.due('delay', inMs)), item)
    },
    signal: async (caller, request) =>
      perform(
        (hints) => receiveOperation(borrowed, signingKeys, new OpenedWaitpoints(), hints),
        checkSendRequest(caller, request),
      ),
    cancel: async (caller, request) => {
      const item = checkCancelRequest(caller, request)
      return isByHolder(item)
        ? perform(() => cancelHeldOperation(borrowed, () => {}), item)
        : perform((hints) => cancelOperation(borrowed, leftToTheSweep, hints.calledOff, hints.ring), item)
    },
  }
  const { create, cancel } = idPlaces.executions!
  const places = { submit: create!, signal: idPlaces.signals!.send!, cancel: cancel! }
  return bindAll<Within>(caller, acceptBareIds(borrowed, own, places))
}

// What an ending owes others cannot be resolved before the commit, of which nobody here hears.
const leftToTheSweep = (): void => {}

function collected() {
  const ready = new Set<number>()
  const calledOff = new Set<string>()
  const dueMs = new Map<HintedTimer, number>()
  const hinting: Hinting = {
    carriedBy: () => null,
    carrier: () => null,
    ring: (queueIds) => [...queueIds].forEach((id) => ready.add(id)),
    calledOff: (executionIds) => [...executionIds].forEach((id) => calledOff.add(id)),
    due: (timer, inMs) => void dueMs.set(timer, Math.min(dueMs.get(timer) ?? inMs, inMs)),
  }
  return { hinting, ready, calledOff, dueMs }
}
