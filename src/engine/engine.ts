// The engine on one database: the parts that all its callers share, the operations, and how they are bound to a caller.
import type { Sql } from '../sql/sql.ts'
import { authenticate } from './api-key/authenticate.ts'
import { createApiKey } from './api-key/create.ts'
import { listApiKeys } from './api-key/list.ts'
import { revokeApiKey } from './api-key/revoke.ts'
import { listAttempts } from './attempt/list.ts'
import { acceptBareIds } from './kernel/bare-id.ts'
import { bindAll, CallerBinding, type ForCaller } from './kernel/bound.ts'
import { bindAdmitted } from '../model/caller.ts'
import { localCaller, type Caller } from './kernel/caller.ts'
import { guardedServerTime } from './kernel/server-time.ts'
import type { Engine } from './contract.ts'
import { eachInPlace } from './kernel/each-in-place.ts'
import { timeline } from './event/timeline.ts'
import { checkCancelRequest, isByHolder } from './execution/cancel.ts'
import { changePriorityRequest } from './execution/change-priority.ts'
import { claimById } from './execution/claim-by-id.ts'
import { completeRequest } from './execution/complete.ts'
import { countByState } from './execution/count.ts'
import { createOperations } from './execution/creates.ts'
import { describe } from './execution/describe.ts'
import { explainExecution } from './execution/explain.ts'
import { failRequest } from './execution/fail.ts'
import { getNamespace } from './execution/get-namespace.ts'
import { getTag } from './execution/get-tag.ts'
import { checkDelayRequest, checkReleaseRequest } from './execution/give-back.ts'
import { grantRequest } from './execution/grant.ts'
import { input } from './execution/input.ts'
import { list } from './execution/list.ts'
import { progressRequest } from './execution/progress.ts'
import { renew } from './execution/renew.ts'
import { replayRequest } from './execution/replay-request.ts'
import { resolveFlowId } from './execution/resolve-flow-id.ts'
import { result } from './execution/result.ts'
import { restartRequest } from './execution/restart.ts'
import { resumeRequest } from './execution/resume.ts'
import { setTag } from './execution/set-tag.ts'
import { warnRequest } from './execution/warn.ts'
import { onlyEvents } from './kernel/effects.ts'
import { orEngineError } from './kernel/failure.ts'
import { sessionOf } from './kernel/session.ts'
import { idPlaces } from './id-places.ts'
import { flowOperations } from './flows.ts'
import { checkLeases } from './lease/check.ts'
import { listExpiredLeases } from './lease/list-expired.ts'
import { revokeRequest } from './lease/revoke.ts'
import { measureLanes } from './lane/measure.ts'
import { listLanes } from './lane/list.ts'
import type { Merger } from './kernel/merge.ts'
import { checkApproveRequest } from './waiting/signal/approve.ts'
import { checkDeliverRequest } from './waiting/signal/deliver.ts'
import { listSignals } from './waiting/signal/list.ts'
import { checkRedeemRequest } from './waiting/signal/redeem.ts'
import { checkSendRequest } from './waiting/signal/send.ts'
import { listSigningKeys } from './signing-key/list.ts'
import { rotate } from './signing-key/rotate.ts'
import { seed } from './signing-key/seed.ts'
import { listSteps } from './step/list.ts'
import { checkRecordStepRequest } from './step/record-request.ts'
import { describeSuspension } from './waiting/suspension/describe.ts'
import { listSuspensions } from './execution/list-suspended.ts'
import { checkSuspendRequest } from './waiting/suspension/request.ts'
import { createWaitpointRequest } from './waiting/waitpoint/create.ts'
import { describeLink } from './waiting/waitpoint/describe-link.ts'
import { link } from './waiting/waitpoint/link.ts'
import { listWaitpoints } from './waiting/waitpoint/list.ts'
import { readToken } from './waiting/waitpoint/read-token.ts'
import { checkHeartbeatRequest } from './worker/heartbeat.ts'
import { listWorkers } from './worker/list.ts'
import { markDead } from './worker/mark-dead.ts'
import { register } from './worker/register.ts'
import { scheduleOperations } from './schedules.ts'
import { withinTransaction, type Within } from './within.ts'
import { Supervisor, type SuperviseOptions } from './duties/supervisor.ts'
import { shared, type EngineOptions, type Shared } from './shared.ts'

/** The engine, and the functions that its process needs besides its operations. */
export interface OpenEngine {
  readonly engine: Engine
  /** The same, inside a transaction of the caller's: `borrowed` is the connection that has it. */
  within(borrowed: Sql): Within
  /** Not started yet. */
  supervisor(options: SuperviseOptions): Supervisor
  /**
   * Receives running executions that were ended or asked to stop without their holder, by uuid, and null when it may be any,
   * until the returned function is called.
   */
  onStoppedRun(receive: (executionId: string | null) => void): () => void
  /** Allows signing of tokens from now on; refuses a wrapping secret that does not match the stored keys. */
  readySigningKeys(): Promise<void>
  /** Resolves when the dispatcher of this process is idle. */
  dispatched(): Promise<void>
  /** Accepts no more calls; resolves when the accepted ones are answered, or the time is over. The database stays open. */
  close(longestMs?: number): Promise<void>
}

export function openEngine(sql: Sql, options: EngineOptions = {}): OpenEngine {
  const engine = shared(sql, options)
  const { hints, dispatcher } = engine
  return {
    engine: engineFor(engine, localCaller),
    within: (borrowed) => withinTransaction(engine, sessionOf(borrowed, engine.closing), localCaller),
    supervisor: (options) =>
      new Supervisor(sql, options, {
        publish: engine.publish,
        onDue: (notify) => hints.onDue(notify),
      }),
    onStoppedRun: (receive) => hints.onStoppedRun(receive),
    readySigningKeys: () => engine.signingKeys.ready(),
    dispatched: () => dispatcher.idle(),
    close: (longestMs) => engine.closing.close(longestMs),
  }
}

export function createEngine(sql: Sql, options: EngineOptions = {}): Engine {
  return openEngine(sql, options).engine
}

/** Plain objects for a long-lived caller, views for short-lived ones. */
function engineFor(engine: Shared, caller: Caller): Engine {
  const operations = operationsOf(engine)
  const as = (from: Caller): Engine['as'] => {
    return (options) => {
      const to = bindAdmitted(from, options)
      const binding = new CallerBinding(to)
      return engineOf(engine, operations, as(to), (verbs) => binding.view(verbs))
    }
  }
  return engineOf(engine, operations, as(caller), (verbs) => bindAll(caller, verbs))
}

function engineOf(
  { session, schemaGuard }: Shared,
  operations: Operations,
  as: Engine['as'],
  bind: <Noun extends object>(verbs: ForCaller<Noun>) => Noun,
): Engine {
  return {
    as,
    serverTime: () => guardedServerTime(session, schemaGuard),
    executions: bind<Engine['executions']>(operations.executions),
    flows: bind<Engine['flows']>(operations.flows),
    leases: bind<Engine['leases']>(operations.leases),
    suspensions: bind<Engine['suspensions']>(operations.suspensions),
    signals: bind<Engine['signals']>(operations.signals),
    signingKeys: bind<Engine['signingKeys']>(operations.signingKeys),
    waitpoints: bind<Engine['waitpoints']>(operations.waitpoints),
    events: bind<Engine['events']>(operations.events),
    steps: bind<Engine['steps']>(operations.steps),
    attempts: bind<Engine['attempts']>(operations.attempts),
    lanes: bind<Engine['lanes']>(operations.lanes),
    workers: bind<Engine['workers']>(operations.workers),
    schedules: bind<Engine['schedules']>(operations.schedules),
    apiKeys: bind<Engine['apiKeys']>(operations.apiKeys),
  }
}

type Nouns = Omit<Engine, 'as' | 'serverTime'>
type Operations = { readonly [Noun in keyof Nouns]: ForCaller<Nouns[Noun]> }

function operationsOf(engine: Shared): Operations {
  const operations = byFullIds(engine)
  const nouns = Object.entries<object>(operations).map(([noun, verbs]) => {
    return [noun, acceptBareIds(engine.session, verbs, idPlaces[noun as keyof Nouns])]
  })
  return Object.fromEntries(nouns) as Operations
}

function byFullIds(engine: Shared): Operations {
  const { session: sql, signingKeys, logged } = engine
  const complete = inSets(completeRequest.check, () => engine.complete)
  const fail = inSets(failRequest.check, () => engine.fail)
  const delay = inSets(checkDelayRequest, () => engine.delay)
  const release = inSets(checkReleaseRequest, () => engine.release)
  const cancel = inSets(checkCancelRequest, (item) => (isByHolder(item) ? engine.cancelHeld : engine.cancel))
  const suspend = inSets(checkSuspendRequest, () => engine.suspend)
  const resume = inSets(resumeRequest.check, () => engine.resume)
  const replay = inSets(replayRequest.check, () => engine.replay)
  const recordStep = inSets(checkRecordStepRequest, () => engine.recordStep)
  const deliver = inSets(checkDeliverRequest, () => engine.signal)
  const send = inSets(checkSendRequest, () => engine.signal)
  return {
    executions: {
      ...createOperations(engine),
      claim: async (caller, request) => {
        engine.schemaGuard.check()
        const result = await orEngineError(engine.claimer.claim(caller, request))
        if (result.claims.length > 0) engine.publish(onlyEvents)
        return result
      },
      renew: logged((caller, request) => renew(sql, caller, request)),
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
      grant: inSets(grantRequest.check, () => engine.grant).one,
      claimById: logged((caller, request) => claimById(sql, caller, request)),
      progress: inSets(progressRequest.check, () => engine.progress).one,
      restart: inSets(restartRequest.check, () => engine.restart).one,
      warn: inSets(warnRequest.check, () => engine.warn).one,
      changePriority: inSets(changePriorityRequest.check, () => engine.changePriority).one,
      describe: (caller, executionId) => describe(sql, caller, executionId),
      explain: (caller, executionId) => explainExecution(sql, caller, executionId),
      result: (caller, executionId, request = {}) => result(sql, engine.endings, caller, executionId, request),
      input: (caller, executionId) => input(sql, caller, executionId),
      list: (caller, request = {}) => list(sql, caller, request),
      countByState: (caller, request = {}) => countByState(sql, caller, request),
      resolveFlowId: (caller, executionId) => resolveFlowId(sql, caller, executionId),
      getNamespace: (caller, executionId) => getNamespace(sql, caller, executionId),
      setTag: (caller, executionId, key, value) => setTag(sql, caller, executionId, key, value),
      getTag: (caller, executionId, key) => getTag(sql, caller, executionId, key),
    },
    flows: flowOperations(engine),
    leases: {
      revoke: inSets(revokeRequest.check, () => engine.revoke).one,
      check: (caller, request) => checkLeases(sql, caller, request),
      listExpired: (caller, request = {}) => listExpiredLeases(sql, caller, request),
    },
    suspensions: {
      list: (caller, request = {}) => listSuspensions(sql, caller, request),
      describe: (caller, executionId) => describeSuspension(sql, caller, executionId),
    },
    signals: {
      deliver: deliver.one,
      deliverMany: deliver.many,
      send: send.one,
      sendMany: send.many,
      approve: inSets(checkApproveRequest, () => engine.signal).one,
      redeem: inSets(checkRedeemRequest, () => engine.signal).one,
      list: (caller, executionId, request = {}) => listSignals(sql, caller, executionId, request),
    },
    signingKeys: {
      rotate: logged((caller, request = {}) => rotate(sql, signingKeys, caller, request)),
      seed: logged((caller, request) => seed(sql, signingKeys, caller, request)),
      list: (caller, request = {}) => listSigningKeys(sql, caller, request),
    },
    waitpoints: {
      create: inSets(createWaitpointRequest.check, () => engine.createWaitpoint).one,
      list: (caller, executionId, request = {}) => listWaitpoints(sql, signingKeys, caller, executionId, request),
      readToken: logged((caller, waitpointId) => readToken(sql, signingKeys, caller, waitpointId)),
      link: logged((caller, request) => link(sql, signingKeys, caller, request)),
      describeLink: (caller, request) => describeLink(sql, signingKeys, caller, request),
    },
    events: {
      subscribe: (caller, request = {}) => engine.subscriptions.subscribe(caller, request),
      timeline: (caller, executionId, request = {}) => timeline(sql, caller, executionId, request),
    },
    steps: {
      record: recordStep.one,
      recordMany: recordStep.many,
      list: (caller, executionId, request = {}) => listSteps(sql, caller, executionId, request),
    },
    attempts: {
      list: (caller, executionId, request = {}) => listAttempts(sql, caller, executionId, request),
    },
    lanes: {
      list: (caller, request = {}) => listLanes(sql, caller, request),
      measure: (caller, request = {}) => measureLanes(sql, caller, request),
    },
    workers: {
      register: logged((caller, request) => register(sql, engine.tasks, caller, request)),
      heartbeat: inSets(checkHeartbeatRequest, () => engine.heartbeat).one,
      markDead: logged((caller, request) => markDead(sql, caller, request)),
      list: (caller, request = {}) => listWorkers(sql, caller, request),
    },
    schedules: scheduleOperations(engine),
    apiKeys: {
      create: logged((caller, request) => createApiKey(sql, caller, request)),
      list: (caller, request = {}) => listApiKeys(sql, caller, request),
      revoke: logged((caller, request) => revokeApiKey(sql, caller, request)),
      authenticate: (caller, request) => authenticate(sql, caller, request),
    },
  }

  /** One call, merged with others; or many in one, each with its own answer. */
  function inSets<Request, Item, Answer>(
    check: (caller: Caller, request: Request) => Item,
    mergerOf: (item: Item) => Merger<Item, Answer>,
  ) {
    return {
      // One promise for each call: an async function would make another.
      one: (caller: Caller, request: Request): Promise<Answer> => {
        try {
          const item = check(caller, request)
          return mergerOf(item).one(item)
        } catch (error) {
          return Promise.reject(error)
        }
      },
      many: (caller: Caller, requests: readonly Request[]) =>
        eachInPlace(
          requests,
          (request) => check(caller, request),
          (item: Item, settle: Parameters<Merger<Item, Answer>['add']>[1]) => mergerOf(item).add(item, settle),
        ),
    }
  }
}
