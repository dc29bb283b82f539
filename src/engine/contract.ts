// The contract: nouns, then verbs. Every operation runs for a caller; `as` gives the same engine bound to another.
import type { EngineError } from '../model/errors.ts'
import type { ExecutionId, FlowId, WaitpointId } from '../model/id.ts'
import type { AttemptPage, ListAttemptsRequest } from './attempt/list.ts'
import type { CallerOptions } from './caller.ts'
import type { SubscribeRequest } from './event/subscribe.ts'
import type { Subscription } from './event/subscription.ts'
import type { TimelinePage, TimelineRequest } from './event/timeline.ts'
import type { CancelRequest, CancelResult } from './execution/cancel.ts'
import type { ChangePriorityRequest, PriorityChanged } from './execution/change-priority.ts'
import type { ClaimByIdRequest } from './execution/claim-by-id.ts'
import type { Claim } from './execution/claim.ts'
import type { ClaimRequest, ClaimResult } from './execution/claimer.ts'
import type { Completed, CompleteRequest } from './execution/complete.ts'
import type { CountRequest, StateCounts } from './execution/count.ts'
import type { CreateRequest } from './execution/create-request.ts'
import type { CreateResult } from './execution/create.ts'
import type { FailRequest, FailResult } from './execution/fail.ts'
import type { DelayRequest, DelayResult, ReleaseRequest, ReleaseResult } from './execution/give-back.ts'
import type { Granted, GrantRequest } from './execution/grant.ts'
import type { ExecutionPage, ListRequest } from './execution/list.ts'
import type { ProgressRecorded, ProgressRequest } from './execution/progress.ts'
import type { RenewRequest, RenewResult } from './execution/renew.ts'
import type { Replayed, ReplayRequest } from './execution/replay.ts'
import type { ExecutionResult } from './execution/result.ts'
import type { Resumed, ResumeRequest } from './execution/resume.ts'
import type { Execution } from './execution/snapshot.ts'
import type { SuspendResult, TrySuspendResult } from './execution/suspend.ts'
import type { ExpiredLeasePage, ListExpiredLeasesRequest } from './lease/list-expired.ts'
import type { RevokeRequest, RevokeResult } from './lease/revoke.ts'
import type { LanePage, ListLanesRequest } from './lane/list.ts'
import type { ApproveRequest } from './signal/approve.ts'
import type { DeliverRequest } from './signal/deliver.ts'
import type { SignalResult } from './signal/incoming.ts'
import type { ListSignalsRequest, SignalPage } from './signal/list.ts'
import type { RedeemRequest } from './signal/redeem.ts'
import type { SendRequest } from './signal/send.ts'
import type { ListedSigningKey, ListSigningKeysRequest } from './signing-key/list.ts'
import type { RotateRequest, RotateResult } from './signing-key/rotate.ts'
import type { SeedRequest, SeedResult } from './signing-key/seed.ts'
import type { SuspensionDetail } from './suspension/describe.ts'
import type { ListSuspensionsRequest, SuspensionPage } from './suspension/list.ts'
import type { SuspendRequest } from './suspension/request.ts'
import type { CreateWaitpointRequest, WaitpointCreated } from './waitpoint/create.ts'
import type { ApprovalUrl, LinkRequest } from './waitpoint/link.ts'
import type { ListWaitpointsRequest, WaitpointPage } from './waitpoint/list.ts'
import type { WaitpointToken } from './waitpoint/read-token.ts'

/** One item of a set that was refused, in its place among the answers. */
export interface Refused {
  readonly kind: 'refused'
  readonly error: EngineError
}

export interface Engine {
  readonly executions: Executions
  readonly leases: Leases
  readonly attempts: Attempts
  readonly suspensions: Suspensions
  readonly waitpoints: Waitpoints
  readonly signals: Signals
  readonly signingKeys: SigningKeys
  readonly events: Events
  readonly lanes: Lanes
  /** The same engine, bound to a namespace (or `'*'`) and to who acts. */
  as(caller: CallerOptions): Engine
  /** The clock that decides, in milliseconds since 1970. */
  serverTime(): Promise<number>
}

export interface Executions {
  /** Accepts one unit of work. Concurrent calls share a round trip. */
  create(request: CreateRequest): Promise<CreateResult>
  /** Accepts many. Answers in order; a bad one is refused in its place and holds up none of the others. */
  createMany(requests: readonly CreateRequest[]): Promise<(CreateResult | Refused)[]>
  /**
   * Takes up to `max` executions for a worker instance, each under a lease; may wait for work. Each claim names the lease
   * that every later write of its holder must name.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /** Reserves one execution for one worker instance, for a moment; it moves nothing. */
  grant(request: GrantRequest): Promise<Granted>
  /** Claims one execution by the grant for it. */
  claimById(request: ClaimByIdRequest): Promise<Claim>
  /** Keeps the leases of a worker instance; tells of each whether it is kept, lost, or asked to stop. */
  renew(request: RenewRequest): Promise<RenewResult>
  /** The work is done. A repeat by the same holder answers as the first did. */
  complete(request: CompleteRequest): Promise<Completed>
  completeMany(requests: readonly CompleteRequest[]): Promise<(Completed | Refused)[]>
  /** The attempt failed; the policy decides whether another follows. */
  fail(request: FailRequest): Promise<FailResult>
  failMany(requests: readonly FailRequest[]): Promise<(FailResult | Refused)[]>
  /** Gives it back until a time, without burning an attempt. */
  delay(request: DelayRequest): Promise<DelayResult>
  delayMany(requests: readonly DelayRequest[]): Promise<(DelayResult | Refused)[]>
  /** Gives it back at once, without burning an attempt. */
  release(request: ReleaseRequest): Promise<ReleaseResult>
  releaseMany(requests: readonly ReleaseRequest[]): Promise<(ReleaseResult | Refused)[]>
  /** Parks it, without a lease, until the condition is met; when that is so already, it is back in its queue at once. */
  suspend(request: SuspendRequest): Promise<SuspendResult>
  suspendMany(requests: readonly SuspendRequest[]): Promise<(SuspendResult | Refused)[]>
  /** The same, but when the condition is met already, the holder goes on under its lease. */
  trySuspend(request: SuspendRequest): Promise<TrySuspendResult>
  /** An operator takes it out of its suspension, whatever its condition says. */
  resume(request: ResumeRequest): Promise<Resumed>
  resumeMany(requests: readonly ResumeRequest[]): Promise<(Resumed | Refused)[]>
  /** How far the holder is; what is left out stays as it was. */
  progress(request: ProgressRequest): Promise<ProgressRecorded>
  /** Runs what has ended once more, as a new generation. */
  replay(request: ReplayRequest): Promise<Replayed>
  replayMany(requests: readonly ReplayRequest[]): Promise<(Replayed | Refused)[]>
  changePriority(request: ChangePriorityRequest): Promise<PriorityChanged>
  cancel(request: CancelRequest): Promise<CancelResult>
  cancelMany(requests: readonly CancelRequest[]): Promise<(CancelResult | Refused)[]>
  describe(executionId: ExecutionId): Promise<Execution | null>
  result(executionId: ExecutionId): Promise<ExecutionResult | null>
  list(request?: ListRequest): Promise<ExecutionPage>
  countByState(request?: CountRequest): Promise<StateCounts>
  resolveFlowId(executionId: ExecutionId): Promise<FlowId | null>
  getNamespace(executionId: ExecutionId): Promise<string | null>
  setTag(executionId: ExecutionId, key: string, value: string): Promise<void>
  getTag(executionId: ExecutionId, key: string): Promise<string | null>
}

export interface Leases {
  /** Takes a lease away; the execution goes back to its queue. */
  revoke(request: RevokeRequest): Promise<RevokeResult>
  /** Leases that have run out and wait for the sweep. */
  listExpired(request?: ListExpiredLeasesRequest): Promise<ExpiredLeasePage>
}

export interface Attempts {
  /** The attempts of one execution, the first one first, each with the error that ended it. */
  list(executionId: ExecutionId, request?: ListAttemptsRequest): Promise<AttemptPage>
}

export interface Suspensions {
  /** Executions that are suspended, the longest first. */
  list(request?: ListSuspensionsRequest): Promise<SuspensionPage>
  /** The suspension that an execution is in, or its last one and how that ended; null when it had none. */
  describe(executionId: ExecutionId): Promise<SuspensionDetail | null>
}

export interface Waitpoints {
  /** Creates one ahead of the suspension, so that its token can be handed out while the work goes on. */
  create(request: CreateWaitpointRequest): Promise<WaitpointCreated>
  /** Those of an execution that are not closed. Never their tokens. */
  list(executionId: ExecutionId, request?: ListWaitpointsRequest): Promise<WaitpointPage>
  /** The token of one, for whoever has the right; leaves an event. Null when there is none. */
  readToken(waitpointId: WaitpointId): Promise<WaitpointToken | null>
  /** A link that asks for one action, once and until it expires. */
  link(request: LinkRequest): Promise<ApprovalUrl>
}

export interface Signals {
  /** Answers a waitpoint, by its token. */
  deliver(request: DeliverRequest): Promise<SignalResult>
  deliverMany(requests: readonly DeliverRequest[]): Promise<(SignalResult | Refused)[]>
  /** To an execution by name: kept until a condition that names it takes it, once. */
  send(request: SendRequest): Promise<SignalResult>
  sendMany(requests: readonly SendRequest[]): Promise<(SignalResult | Refused)[]>
  /** An operator answers a waitpoint without its token. */
  approve(request: ApproveRequest): Promise<SignalResult>
  /** Uses an approval link. */
  redeem(request: RedeemRequest): Promise<SignalResult>
  /** All that was sent to an execution, in the order in which it was accepted. */
  list(executionId: ExecutionId, request?: ListSignalsRequest): Promise<SignalPage>
}

export interface SigningKeys {
  /** A new key signs from now on; the one before verifies until its grace is over. */
  rotate(request?: RotateRequest): Promise<RotateResult>
  /** The first key, where there is none. */
  seed(request: SeedRequest): Promise<SeedResult>
  /** Those that verify; never their secrets. */
  list(request?: ListSigningKeysRequest): Promise<readonly ListedSigningKey[]>
}

export interface Events {
  /**
   * The log from now on, or from a cursor: in order, nothing lost and nothing twice. Iterate it, and leave the loop or
   * abort the signal to end it.
   */
  subscribe(request?: SubscribeRequest): Promise<Subscription>
  /** What happened to one execution, oldest first. */
  timeline(executionId: ExecutionId, request?: TimelineRequest): Promise<TimelinePage>
}

export interface Lanes {
  list(request?: ListLanesRequest): Promise<LanePage>
}
