// What all callers of one process share: the sets that their calls are merged into, hints, queues, keys.
import type { Sql } from '../sql/sql.ts'
import { Closing } from './kernel/closing.ts'
import { Dispatcher } from './duties/dispatcher.ts'
import { Subscriptions } from './event/subscribe.ts'
import { cancelHeldOperation } from './execution/cancel-held.ts'
import { cancelOperation } from './execution/cancel.ts'
import { changePriorityOperation } from './execution/change-priority.ts'
import { Claimer } from './execution/claimer.ts'
import { completeOperation } from './execution/complete.ts'
import { createChildren } from './execution/create-child.ts'
import { createKeyed, createUnkeyed } from './execution/create.ts'
import { Endings } from './execution/endings.ts'
import { failOperation } from './execution/fail.ts'
import { delayOperation, releaseOperation } from './execution/give-back.ts'
import { grantOperation } from './execution/grant.ts'
import { progressOperation } from './execution/progress.ts'
import { replayOperation } from './execution/replay.ts'
import { replayMember } from './flow/replay-member.ts'
import { restartOperation } from './execution/restart.ts'
import { resumeOperation } from './execution/resume.ts'
import { suspendOperation, trySuspendOperation } from './execution/suspend.ts'
import { warnOperation } from './execution/warn.ts'
import { inOurWords } from './kernel/failure.ts'
import type { Publish } from './kernel/effects.ts'
import { FlowTurns } from './flow/flow-deps.ts'
import { Hints } from './kernel/hint.ts'
import { revokeOperation } from './lease/revoke.ts'
import { Merger } from './kernel/merge.ts'
import { QueueHeads } from './queue/head.ts'
import { QueueRegistry } from './queue/intern.ts'
import { QueueMatcher } from './queue/match.ts'
import { SchemaGuard } from './kernel/schema-guard.ts'
import { receiveOperation } from './waiting/signal/receive.ts'
import { SigningKeys, type SigningKeysOptions } from './signing-key/keys.ts'
import { recordStepOperation } from './step/record.ts'
import { TaskRegistry } from './task/registry.ts'
import { createWaitpointOperation } from './waiting/waitpoint/create.ts'
import { MoreToClose } from './transition/more-to-close.ts'
import { OpenedWaitpoints } from './waiting/waitpoint/opened.ts'
import { heartbeatOperation } from './worker/heartbeat.ts'

export interface EngineOptions {
  readonly signing?: SigningKeysOptions
  /** False: what endings owe others is left to the duties. */
  readonly dispatch?: boolean
}

export type Shared = ReturnType<typeof shared>

export function shared(sql: Sql, options: EngineOptions) {
  const queues = new QueueRegistry(sql)
  const tasks = new TaskRegistry(sql)
  const matcher = new QueueMatcher(sql)
  const heads = new QueueHeads()
  const hints = new Hints(sql, (queueId) => {
    matcher.heardOf(queueId)
    heads.lookAgain(queueId === null ? null : [queueId])
  })
  const onReady = (queueIds: Iterable<number>): void => hints.ring(queueIds)
  const onDelay = (inMs: number): void => hints.due('delay', inMs)
  const onCalledOff = (executionIds: readonly string[]): void => hints.calledOff(executionIds)
  const subscriptions = new Subscriptions(inOurWords(sql))
  const endings = new Endings(inOurWords(sql))
  const telling = subscriptions.telling(sql, () => endings.wake())
  const signingKeys = new SigningKeys(sql, options.signing)
  const dispatcher = new Dispatcher(telling, {
    onReady,
    onDelay,
    onCalledOff,
    onFlowsEnded: (flowIds) => hints.flowsEnded(flowIds),
  })
  const onOwed = options.dispatch === false ? () => {} : (owes: number): void => dispatcher.kick(owes)
  const publish: Publish = ({ readyQueueIds = [], dueInMs, pendingDispatch = 0 }) => {
    if (readyQueueIds.length > 0) onReady(readyQueueIds)
    if (dueInMs?.delay !== undefined) onDelay(dueInMs.delay)
    if (pendingDispatch !== 0) onOwed(pendingDispatch)
  }
  const opened = new OpenedWaitpoints()
  const more = new MoreToClose()
  const schemaGuard = new SchemaGuard(sql.schema)
  const suspending = { sql: telling, keys: signingKeys, opened, hints, onOwed }
  const creates = {
    createUnkeyed: new Merger(sql, createUnkeyed(sql, queues, hints)),
    createKeyed: new Merger(sql, createKeyed(sql, queues, onReady, onDelay)),
    createChildren: new Merger(sql, createChildren(sql, queues, onReady, onDelay)),
  }
  const sets = {
    complete: new Merger(sql, completeOperation(telling, more, onOwed)),
    fail: new Merger(sql, failOperation(telling, publish)),
    delay: new Merger(sql, delayOperation(telling, publish)),
    release: new Merger(sql, releaseOperation(telling, publish)),
    cancel: new Merger(sql, cancelOperation(telling, onOwed, onCalledOff, onReady)),
    cancelHeld: new Merger(sql, cancelHeldOperation(telling, publish)),
    suspend: new Merger(sql, suspendOperation(suspending)),
    trySuspend: new Merger(sql, trySuspendOperation(suspending)),
    resume: new Merger(sql, resumeOperation(telling, onReady, onDelay)),
    createWaitpoint: new Merger(sql, createWaitpointOperation(sql, signingKeys, opened, more)),
    grant: new Merger(sql, grantOperation(sql)),
    progress: new Merger(sql, progressOperation(sql)),
    recordStep: new Merger(sql, recordStepOperation(sql)),
    warn: new Merger(sql, warnOperation(telling)),
    restart: new Merger(sql, restartOperation(telling, publish)),
    replay: new Merger(sql, replayOperation(telling, onReady, replayMember)),
    changePriority: new Merger(sql, changePriorityOperation(telling, onReady)),
    revoke: new Merger(sql, revokeOperation(telling, onReady, onOwed, onCalledOff)),
    heartbeat: new Merger(
      sql,
      heartbeatOperation(sql, (ledger) => schemaGuard.notice(ledger)),
    ),
    signal: new Merger(sql, receiveOperation(telling, signingKeys, opened, hints)),
  }
  // Creates that still read their tasks come before the sets that take them are closed.
  const creating = {
    close: async () => {
      await tasks.close()
      await Promise.all(Object.values(creates).map((set) => set.close()))
    },
  }
  const closing = new Closing([creating, ...Object.values(sets), dispatcher, endings], hints)
  const raw = closing.refusing(telling)
  return {
    ...creates,
    ...sets,
    queues,
    tasks,
    hints,
    dispatcher,
    onOwed,
    onReady,
    onCalledOff,
    telling,
    sql: inOurWords(closing.refusing(sql)),
    raw,
    turns: new FlowTurns(),
    subscriptions,
    endings,
    signingKeys,
    schemaGuard,
    claimer: new Claimer(raw, matcher, heads, hints, more),
    closing,
  }
}
