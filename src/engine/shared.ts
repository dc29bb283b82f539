// The parts that all callers of one process share: the sets that their calls are merged into, hints, queues and keys.
import type { Sql } from '../sql/sql.ts'
import { directOperations } from './direct.ts'
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
import { FlowTurns } from './flow/flow-deps.ts'
import { Hints } from './kernel/hint.ts'
import { revokeOperation } from './lease/revoke.ts'
import { Merger, type SetOperation } from './kernel/merge.ts'
import { QueueHeads } from './queue/head.ts'
import { QueueRegistry } from './queue/intern.ts'
import { QueueMatcher } from './queue/match.ts'
import { SchemaGuard } from './kernel/schema-guard.ts'
import { sessionOf } from './kernel/session.ts'
import { receiveOperation } from './waiting/signal/receive.ts'
import { SigningKeys, type SigningKeysOptions } from './signing-key/keys.ts'
import { recordStepOperation } from './step/record.ts'
import { publisherOf } from './publisher.ts'
import { TaskRegistry } from './task/registry.ts'
import { createWaitpointOperation } from './waiting/waitpoint/create.ts'
import { MoreToClose } from './transition/more-to-close.ts'
import { OpenedWaitpoints } from './waiting/waitpoint/opened.ts'
import { heartbeatOperation } from './worker/heartbeat.ts'

export interface EngineOptions {
  readonly signing?: SigningKeysOptions
  /** False: this process leaves dispatching to the duties. */
  readonly dispatch?: boolean
}

export type Shared = ReturnType<typeof shared>

export function shared(sql: Sql, options: EngineOptions) {
  const queues = new QueueRegistry(sql)
  const tasks = new TaskRegistry(sql)
  const matcher = new QueueMatcher(sql)
  const heads = new QueueHeads()
  const hints = new Hints(sql, (queueId) => {
    matcher.invalidate(queueId)
    heads.reset(queueId === null ? null : [queueId])
  })
  const closing = new Closing(() => [creating, ...Object.values(sets), dispatcher, endings], hints)
  const session = sessionOf(sql, closing)
  const subscriptions = new Subscriptions(session)
  const endings = new Endings(session)
  const signingKeys = new SigningKeys(sql, options.signing)
  const dispatcher: Dispatcher = new Dispatcher(sql, (effects) => publish(effects))
  const started = options.dispatch === false ? null : dispatcher
  const publish = publisherOf({ hints, subscriptions, endings, dispatcher: started })
  const opened = new OpenedWaitpoints()
  const more = new MoreToClose()
  const schemaGuard = new SchemaGuard(sql.schema)
  const suspending = { sql, keys: signingKeys, opened }
  const merger = <Item, Answer>(operation: SetOperation<Item, Answer>) => new Merger(sql, operation, publish)
  const creates = {
    createUnkeyed: merger(createUnkeyed(sql, queues, hints)),
    createKeyed: merger(createKeyed(sql, queues)),
    createChildren: merger(createChildren(sql, queues)),
  }
  const sets = {
    complete: merger(completeOperation(sql, more)),
    fail: merger(failOperation(sql)),
    delay: merger(delayOperation(sql)),
    release: merger(releaseOperation(sql)),
    cancel: merger(cancelOperation(sql)),
    cancelHeld: merger(cancelHeldOperation(sql)),
    suspend: merger(suspendOperation(suspending)),
    trySuspend: merger(trySuspendOperation(suspending)),
    resume: merger(resumeOperation(sql)),
    createWaitpoint: merger(createWaitpointOperation(sql, signingKeys, opened, more)),
    grant: merger(grantOperation(sql)),
    progress: merger(progressOperation(sql)),
    recordStep: merger(recordStepOperation(sql)),
    warn: merger(warnOperation(sql)),
    restart: merger(restartOperation(sql)),
    replay: merger(replayOperation(sql, replayMember)),
    changePriority: merger(changePriorityOperation(sql)),
    revoke: merger(revokeOperation(sql)),
    heartbeat: merger(heartbeatOperation(sql, (ledger) => schemaGuard.notice(ledger))),
    signal: merger(receiveOperation(sql, signingKeys, opened, hints)),
  }
  // Creates that still read their tasks come before the sets that take them are closed.
  const creating = {
    close: async () => {
      await tasks.close()
      await Promise.all(Object.values(creates).map((set) => set.close()))
    },
  }
  return {
    ...creates,
    ...sets,
    ...directOperations(publish),
    queues,
    tasks,
    hints,
    dispatcher,
    publish,
    session,
    turns: new FlowTurns(),
    subscriptions,
    endings,
    signingKeys,
    schemaGuard,
    claimer: new Claimer(session, matcher, heads, hints, more),
    closing,
  }
}
