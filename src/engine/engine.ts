// The engine on one database: what all its callers share, and the operations bound to one of them.
import type { Sql } from '../sql/sql.ts'
import { listAttempts } from './attempt/list.ts'
import { bindCaller, localCaller, type Caller } from './caller.ts'
import { serverTime } from './clock/server-time.ts'
import { Closing } from './closing.ts'
import type { Engine } from './contract.ts'
import { eachInPlace } from './each-in-place.ts'
import { Subscriptions } from './event/subscribe.ts'
import { timeline } from './event/timeline.ts'
import { cancelHeldOperation } from './execution/cancel-held.ts'
import { cancelOperation, checkCancelRequest, isByHolder } from './execution/cancel.ts'
import { changePriorityOperation, checkChangePriorityRequest } from './execution/change-priority.ts'
import { claimById } from './execution/claim-by-id.ts'
import { Claimer } from './execution/claimer.ts'
import { checkCompleteRequest, completeOperation } from './execution/complete.ts'
import { countByState } from './execution/count.ts'
import { checkCreateRequest, type NewExecution } from './execution/create-request.ts'
import { createKeyed, createUnkeyed } from './execution/create.ts'
import { describe } from './execution/describe.ts'
import { checkFailRequest, failOperation } from './execution/fail.ts'
import { getNamespace } from './execution/get-namespace.ts'
import { getTag } from './execution/get-tag.ts'
import { checkDelayRequest, checkReleaseRequest, delayOperation, releaseOperation } from './execution/give-back.ts'
import { checkGrantRequest, grantOperation } from './execution/grant.ts'
import { list } from './execution/list.ts'
import { checkProgressRequest, progressOperation } from './execution/progress.ts'
import { renew } from './execution/renew.ts'
import { checkReplayRequest, replayOperation } from './execution/replay.ts'
import { resolveFlowId } from './execution/resolve-flow-id.ts'
import { result } from './execution/result.ts'
import { checkResumeRequest, resumeOperation } from './execution/resume.ts'
import { setTag } from './execution/set-tag.ts'
import { suspendOperation, trySuspendOperation } from './execution/suspend.ts'
import { asEngineError, inOurWords } from './failure.ts'
import { Hints } from './hint.ts'
import { listExpiredLeases } from './lease/list-expired.ts'
import { checkRevokeRequest, revokeOperation } from './lease/revoke.ts'
import { listLanes } from './lane/list.ts'
import { Merger } from './merge.ts'
import { QueueHeads } from './queue/head.ts'
import { QueueRegistry } from './queue/intern.ts'
import { QueueMatcher } from './queue/match.ts'
import { checkApproveRequest } from './signal/approve.ts'
import { checkDeliverRequest } from './signal/deliver.ts'
import { listSignals } from './signal/list.ts'
import { receiveOperation } from './signal/receive.ts'
import { checkRedeemRequest } from './signal/redeem.ts'
import { checkSendRequest } from './signal/send.ts'
import { SigningKeys, type SigningKeysOptions } from './signing-key/keys.ts'
import { listSigningKeys } from './signing-key/list.ts'
import { rotate } from './signing-key/rotate.ts'
import { seed } from './signing-key/seed.ts'
import { describeSuspension } from './suspension/describe.ts'
import { listSuspensions } from './suspension/list.ts'
import { checkSuspendRequest } from './suspension/request.ts'
import { checkCreateWaitpointRequest, createWaitpointOperation } from './waitpoint/create.ts'
import { link } from './waitpoint/link.ts'
import { listWaitpoints } from './waitpoint/list.ts'
import { readToken } from './waitpoint/read-token.ts'
import { Supervisor, type SuperviseOptions } from './reconcilers/supervisor.ts'

/** The engine, and what a process that holds it can do beside its operations. */
export interface OpenEngine {
  readonly engine: Engine
  /** Not started yet. */
  supervisor(options: SuperviseOptions): Supervisor
  /** From here on tokens can be signed; refuses a wrapping secret that is not the one of the stored keys. */
  readySigningKeys(): Promise<void>
  /** Takes no more calls; resolves when those that were taken are answered, within a bound. The database stays open. */
  close(longestMs?: number): Promise<void>
}

export interface EngineOptions {
  readonly signing?: SigningKeysOptions
}

export function openEngine(sql: Sql, options: EngineOptions = {}): OpenEngine {
  const engine = shared(sql, options)
  const { hints, telling } = engine
  return {
    engine: engineFor(engine, localCaller),
    supervisor: (options) =>
      new Supervisor(telling, options, {
        onReady: (queueIds) => hints.ring(queueIds),
        onDelay: (hear) => hints.onDelay(hear),
      }),
    readySigningKeys: () => engine.signingKeys.ready(),
    close: (longestMs) => engine.closing.close(longestMs),
  }
}

export function createEngine(sql: Sql, options: EngineOptions = {}): Engine {
  return openEngine(sql, options).engine
}

type Shared = ReturnType<typeof shared>

function shared(sql: Sql, options: EngineOptions) {
  const queues = new QueueRegistry(sql)
  const matcher = new QueueMatcher(sql)
  const heads = new QueueHeads()
  const hints = new Hints(sql, (queueId) => {
    matcher.heardOf(queueId)
    heads.lookAgain(queueId === null ? null : [queueId])
  })
  const onReady = (queueIds: Iterable<number>): void => hints.ring(queueIds)
  const onDelay = (inMs: number): void => hints.delayed(inMs)
  const subscriptions = new Subscriptions(inOurWords(sql))
  const telling = subscriptions.telling(sql)
  const signingKeys = new SigningKeys(sql, options.signing)
  const sets = {
    createUnkeyed: new Merger(sql, createUnkeyed(sql, queues, hints)),
    createKeyed: new Merger(sql, createKeyed(sql, queues, onReady, onDelay)),
    complete: new Merger(sql, completeOperation(telling)),
    fail: new Merger(sql, failOperation(telling, onReady, onDelay)),
    delay: new Merger(sql, delayOperation(telling, onReady, onDelay)),
    release: new Merger(sql, releaseOperation(telling, onReady)),
    cancel: new Merger(sql, cancelOperation(telling)),
    cancelHeld: new Merger(sql, cancelHeldOperation(telling)),
    suspend: new Merger(sql, suspendOperation({ sql: telling, keys: signingKeys, onReady, onDelay })),
    trySuspend: new Merger(sql, trySuspendOperation({ sql: telling, keys: signingKeys, onReady, onDelay })),
    resume: new Merger(sql, resumeOperation(telling, onReady, onDelay)),
    createWaitpoint: new Merger(sql, createWaitpointOperation(sql, signingKeys)),
    grant: new Merger(sql, grantOperation(sql)),
    progress: new Merger(sql, progressOperation(sql)),
    replay: new Merger(sql, replayOperation(telling, onReady)),
    changePriority: new Merger(sql, changePriorityOperation(telling, onReady)),
    revoke: new Merger(sql, revokeOperation(telling, onReady)),
    signal: new Merger(sql, receiveOperation(telling, signingKeys, onReady, onDelay)),
  }
  const closing = new Closing(Object.values(sets))
  const raw = closing.refusing(telling)
  return {
    ...sets,
    hints,
    telling,
    sql: inOurWords(closing.refusing(sql)),
    raw,
    subscriptions,
    signingKeys,
    claimer: new Claimer(raw, matcher, heads, hints),
    closing,
  }
}

function engineFor(engine: Shared, caller: Caller): Engine {
  const { sql, signingKeys } = engine
  const create = inSets(checkCreateRequest, (item) => (isOurs(item) ? engine.createUnkeyed : engine.createKeyed))
  const complete = inSets(checkCompleteRequest, () => engine.complete)
  const fail = inSets(checkFailRequest, () => engine.fail)
  const delay = inSets(checkDelayRequest, () => engine.delay)
  const release = inSets(checkReleaseRequest, () => engine.release)
  const cancel = inSets(checkCancelRequest, (item) => (isByHolder(item) ? engine.cancelHeld : engine.cancel))
  const suspend = inSets(checkSuspendRequest, () => engine.suspend)
  const resume = inSets(checkResumeRequest, () => engine.resume)
  const replay = inSets(checkReplayRequest, () => engine.replay)
  const deliver = inSets(checkDeliverRequest, () => engine.signal)
  const send = inSets(checkSendRequest, () => engine.signal)
  return {
    as: (options) => engineFor(engine, bindCaller(caller, options)),
    serverTime: () => serverTime(sql),
    executions: {
      create: create.one,
      createMany: create.many,
      claim: (request) => engine.claimer.claim(caller, request).catch(inOurOwn),
      renew: (request) => renew(engine.raw, caller, request).catch(inOurOwn),
      complete: complete.one,
      completeMany: complete.many,
      fail: fail.one,
      failMany: fail.many,
      delay: delay.one,
      delayMany: delay.many,
      release: release.one,
      releaseMany: release.many,
      suspend: suspend.one,
      suspendMany: suspend.many,
      trySuspend: inSets(checkSuspendRequest, () => engine.trySuspend).one,
      resume: resume.one,
      resumeMany: resume.many,
      cancel: cancel.one,
      cancelMany: cancel.many,
      replay: replay.one,
      replayMany: replay.many,
      grant: inSets(checkGrantRequest, () => engine.grant).one,
      claimById: (request) => claimById(engine.raw, caller, request).catch(inOurOwn),
      progress: inSets(checkProgressRequest, () => engine.progress).one,
      changePriority: inSets(checkChangePriorityRequest, () => engine.changePriority).one,
      describe: (executionId) => describe(sql, caller, executionId),
      result: (executionId) => result(sql, caller, executionId),
      list: (request = {}) => list(sql, caller, request),
      countByState: (request = {}) => countByState(sql, caller, request),
      resolveFlowId: (executionId) => resolveFlowId(sql, caller, executionId),
      getNamespace: (executionId) => getNamespace(sql, caller, executionId),
      setTag: (executionId, key, value) => setTag(sql, caller, executionId, key, value),
      getTag: (executionId, key) => getTag(sql, caller, executionId, key),
    },
    leases: {
      revoke: inSets(checkRevokeRequest, () => engine.revoke).one,
      listExpired: (request = {}) => listExpiredLeases(sql, caller, request),
    },
    suspensions: {
      list: (request = {}) => listSuspensions(sql, caller, request),
      describe: (executionId) => describeSuspension(sql, caller, executionId),
    },
    signals: {
      deliver: deliver.one,
      deliverMany: deliver.many,
      send: send.one,
      sendMany: send.many,
      approve: inSets(checkApproveRequest, () => engine.signal).one,
      redeem: inSets(checkRedeemRequest, () => engine.signal).one,
      list: (executionId, request = {}) => listSignals(sql, caller, executionId, request),
    },
    signingKeys: {
      rotate: (request = {}) => rotate(engine.raw, signingKeys, caller, request).catch(inOurOwn),
      seed: (request) => seed(engine.raw, signingKeys, caller, request).catch(inOurOwn),
      list: (request = {}) => listSigningKeys(sql, caller, request),
    },
    waitpoints: {
      create: inSets(checkCreateWaitpointRequest, () => engine.createWaitpoint).one,
      list: (executionId, request = {}) => listWaitpoints(sql, signingKeys, caller, executionId, request),
      readToken: (waitpointId) => readToken(engine.raw, signingKeys, caller, waitpointId).catch(inOurOwn),
      link: (request) => link(engine.raw, signingKeys, caller, request).catch(inOurOwn),
    },
    events: {
      subscribe: (request = {}) => engine.subscriptions.subscribe(caller, request),
      timeline: (executionId, request = {}) => timeline(sql, caller, executionId, request),
    },
    attempts: {
      list: (executionId, request = {}) => listAttempts(sql, caller, executionId, request),
    },
    lanes: {
      list: (request = {}) => listLanes(sql, caller, request),
    },
  }

  /** One call, merged with others; or many in one, each with its own answer. */
  function inSets<Request, Item, Answer>(
    check: (caller: Caller, request: Request) => Item,
    mergerOf: (item: Item) => Merger<Item, Answer>,
  ) {
    return {
      one: async (request: Request): Promise<Answer> => {
        const item = check(caller, request)
        return mergerOf(item).one(item)
      },
      many: (requests: readonly Request[]) =>
        eachInPlace(
          requests,
          (request) => check(caller, request),
          (item: Item, settle: Parameters<Merger<Item, Answer>['add']>[1]) => mergerOf(item).add(item, settle),
        ),
    }
  }
}

// Minted by us and without a key: nothing in the database can stand in its way.
function isOurs(item: NewExecution): boolean {
  return item.minted && item.idempotencyKey === null
}

function inOurOwn(error: unknown): never {
  throw asEngineError(error)
}
