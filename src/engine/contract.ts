// The contract: nouns, then verbs. Every operation runs for a caller; `as` gives the same engine bound to another.
import type { Explanation } from '../model/explain.ts'
import type { FlowId } from '../model/id.ts'
import type { ApiKey } from './api-key/api-key.ts'
import type { AuthenticateRequest } from './api-key/authenticate.ts'
import type { ApiKeyCreated, CreateApiKeyRequest } from './api-key/create.ts'
import type { ApiKeyPage, ListApiKeysRequest } from './api-key/list.ts'
import type { ApiKeyRevoked, RevokeApiKeyRequest } from './api-key/revoke.ts'
import type { AttemptPage, ListAttemptsRequest } from './attempt/list.ts'
import type { CallerOptions } from './kernel/caller.ts'
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
import type { CreateResult } from './execution/create-answer.ts'
import type { FailRequest, FailResult } from './execution/fail.ts'
import type { ExecutionInput } from './execution/input.ts'
import type { DelayRequest, DelayResult, ReleaseRequest, ReleaseResult } from './execution/give-back.ts'
import type { Granted, GrantRequest } from './execution/grant.ts'
import type { ExecutionPage, ListRequest } from './execution/list.ts'
import type { ProgressRecorded, ProgressRequest } from './execution/progress.ts'
import type { LeaseAnswer, RenewRequest, RenewResult } from './execution/renew.ts'
import type { Replayed, ReplayRequest } from './execution/replay-request.ts'
import type { ExecutionResult, ResultRequest } from './execution/result.ts'
import type { RestartRequest, RestartResult } from './execution/restart.ts'
import type { Resumed, ResumeRequest } from './execution/resume.ts'
import type { Execution } from './execution/snapshot.ts'
import type { SuspendResult, TrySuspendResult } from './execution/suspend.ts'
import type { Warned, WarnRequest } from './execution/warn.ts'
import type { AddMemberRequest } from './flow/add-member-request.ts'
import type { MemberAdded } from './flow/add-member.ts'
import type { CloseRequest, FlowClosed } from './flow/close.ts'
import type { ConnectRequest } from './flow/connect-request.ts'
import type { Connected } from './flow/connect.ts'
import type { FlowCreated } from './flow/create.ts'
import type { FlowDetail } from './flow/describe.ts'
import type { Edge } from './flow/edge.ts'
import type { EdgePage, ListEdgesRequest } from './flow/edges.ts'
import type { Eligibility } from './flow/eligibility.ts'
import type { FlowRequest } from './flow/flow-request.ts'
import type { CancelFlowRequest, CancelFlowResult } from './flow/cancel.ts'
import type { GraphRequest } from './flow/graph-request.ts'
import type { FlowGraph, FlowGraphRequest } from './flow/graph.ts'
import type { FlowPage, ListFlowsRequest } from './flow/list.ts'
import type { Sealed, SealRequest } from './flow/seal.ts'
import type { SubmittedGraph } from './flow/submit-graph.ts'
import type { UpstreamResultPage, UpstreamResultsRequest } from './flow/upstream-results.ts'
import type { WaitForFlowRequest } from './flow/wait.ts'
import type { CheckLeasesRequest } from './lease/check.ts'
import type { ExpiredLeasePage, ListExpiredLeasesRequest } from './lease/list-expired.ts'
import type { RevokeRequest, RevokeResult } from './lease/revoke.ts'
import type { LaneMeasures, MeasureLanesRequest } from './lane/measure.ts'
import type { LanePage, ListLanesRequest } from './lane/list.ts'
import type { ApproveRequest } from './waiting/signal/approve.ts'
import type { DeliverRequest } from './waiting/signal/deliver.ts'
import type { SignalResult } from './waiting/signal/incoming.ts'
import type { ListSignalsRequest, SignalPage } from './waiting/signal/list.ts'
import type { RedeemRequest } from './waiting/signal/redeem.ts'
import type { SendRequest } from './waiting/signal/send.ts'
import type { ListedSigningKey, ListSigningKeysRequest } from './signing-key/list.ts'
import type { RotateRequest, RotateResult } from './signing-key/rotate.ts'
import type { SeedRequest, SeedResult } from './signing-key/seed.ts'
import type { ListStepsRequest, StepPage } from './step/list.ts'
import type { RecordStepRequest, StepRecorded } from './step/record-request.ts'
import type { SuspensionDetail } from './waiting/suspension/describe.ts'
import type { ListSuspensionsRequest, SuspensionPage } from './execution/list-suspended.ts'
import type { SuspendRequest } from './waiting/suspension/request.ts'
import type { CreateWaitpointRequest, WaitpointCreated } from './waiting/waitpoint/create.ts'
import type { DescribeLinkRequest, LinkDetail } from './waiting/waitpoint/describe-link.ts'
import type { ApprovalUrl, LinkRequest } from './waiting/waitpoint/link.ts'
import type { ListWaitpointsRequest, WaitpointPage } from './waiting/waitpoint/list.ts'
import type { ScheduleDeleted } from './schedule/delete.ts'
import type { ScheduleDetail } from './schedule/describe.ts'
import type { ListSchedulesRequest, SchedulePage } from './schedule/list.ts'
import type { NamedSchedule } from './schedule/named.ts'
import type { SchedulePaused } from './schedule/pause.ts'
import type { PutScheduleRequest } from './schedule/put-request.ts'
import type { SchedulePut } from './schedule/put.ts'
import type { ScheduleResumed } from './schedule/resume.ts'
import type { TriggerResult } from './schedule/trigger.ts'
import type { WaitpointToken } from './waiting/waitpoint/read-token.ts'
import type { Refused } from './kernel/each-in-place.ts'
import type { HeartbeatRequest, HeartbeatResult } from './worker/heartbeat.ts'
import type { ListWorkersRequest, WorkerPage } from './worker/list.ts'
import type { MarkDeadRequest, MarkDeadResult } from './worker/mark-dead.ts'
import type { Registered, RegisterRequest } from './worker/register.ts'

export interface Engine {
  readonly executions: Executions
  readonly flows: Flows
  readonly leases: Leases
  readonly attempts: Attempts
  readonly steps: Steps
  readonly suspensions: Suspensions
  readonly waitpoints: Waitpoints
  readonly signals: Signals
  readonly signingKeys: SigningKeys
  readonly events: Events
  readonly lanes: Lanes
  readonly workers: Workers
  readonly schedules: Schedules
  readonly apiKeys: ApiKeys
  /** The same engine, bound to a namespace (or `'*'`) and to an actor. */
  as(caller: CallerOptions): Engine
  /** The time of the database, whose clock decides, in milliseconds since 1970. */
  serverTime(): Promise<number>
}

export interface Executions {
  /** Accepts one unit of work. Concurrent calls share a round trip. */
  create(request: CreateRequest): Promise<CreateResult>
  /** Accepts many. Returns the results in order; a bad request is refused in its place and does not affect the others. */
  createMany(requests: readonly CreateRequest[]): Promise<(CreateResult | Refused)[]>
  /**
   * Takes up to `max` executions for a worker instance, each under a lease; may wait for work. Each claim names the lease
   * that every later write of its holder must name.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /** Reserves one execution for one worker instance, for a short time; the execution does not change. */
  grant(request: GrantRequest): Promise<Granted>
  /** Claims one execution by the grant for it. */
  claimById(request: ClaimByIdRequest): Promise<Claim>
  /** Renews the leases of a worker instance. Returns for each whether it is kept or lost, and whether a stop is requested. */
  renew(request: RenewRequest): Promise<RenewResult>
  /** Completes the execution. A repeat by the same holder returns the first result. */
  complete(request: CompleteRequest): Promise<Completed>
  completeMany(requests: readonly CompleteRequest[]): Promise<(Completed | Refused)[]>
  /** The attempt failed; the policy decides whether another follows. */
  fail(request: FailRequest): Promise<FailResult>
  failMany(requests: readonly FailRequest[]): Promise<(FailResult | Refused)[]>
  /** Returns it to its queue until a time, without using an attempt. */
  delay(request: DelayRequest): Promise<DelayResult>
  delayMany(requests: readonly DelayRequest[]): Promise<(DelayResult | Refused)[]>
  /** Returns it to its queue at once, without using an attempt. */
  release(request: ReleaseRequest): Promise<ReleaseResult>
  releaseMany(requests: readonly ReleaseRequest[]): Promise<(ReleaseResult | Refused)[]>
  /**
   * Suspends it, without a lease, until the condition is satisfied; if it is satisfied already, the execution returns to
   * its queue at once. With the idempotency key of a `trySuspend` that was satisfied, it returns the same result, and the
   * holder keeps its lease.
   */
  suspend(request: SuspendRequest): Promise<SuspendResult>
  suspendMany(requests: readonly SuspendRequest[]): Promise<(SuspendResult | Refused)[]>
  /** The same, but if the condition is satisfied already, the holder continues under its lease. */
  trySuspend(request: SuspendRequest): Promise<TrySuspendResult>
  /** An operator ends its suspension, even if the condition is not satisfied. */
  resume(request: ResumeRequest): Promise<Resumed>
  resumeMany(requests: readonly ResumeRequest[]): Promise<(Resumed | Refused)[]>
  /** Reports the progress of the holder; omitted fields stay as they were. */
  progress(request: ProgressRequest): Promise<ProgressRecorded>
  /** Runs an ended execution once more, as a new generation. */
  replay(request: ReplayRequest): Promise<Replayed>
  replayMany(requests: readonly ReplayRequest[]): Promise<(Replayed | Refused)[]>
  /** The holder starts over with another input, as a new generation: for code that would never end. */
  restart(request: RestartRequest): Promise<RestartResult>
  /** Adds a warning to the execution's history; it changes nothing else. */
  warn(request: WarnRequest): Promise<Warned>
  changePriority(request: ChangePriorityRequest): Promise<PriorityChanged>
  cancel(request: CancelRequest): Promise<CancelResult>
  cancelMany(requests: readonly CancelRequest[]): Promise<(CancelResult | Refused)[]>
  describe(executionId: string): Promise<Execution | null>
  /** Why it is not running, as a sentence with its facts; or how it ended. */
  explain(executionId: string): Promise<Explanation | null>
  /** Its ending; may wait for it. */
  result(executionId: string, request?: ResultRequest): Promise<ExecutionResult | null>
  /** Its input. */
  input(executionId: string): Promise<ExecutionInput | null>
  list(request?: ListRequest): Promise<ExecutionPage>
  countByState(request?: CountRequest): Promise<StateCounts>
  resolveFlowId(executionId: string): Promise<FlowId | null>
  getNamespace(executionId: string): Promise<string | null>
  setTag(executionId: string, key: string, value: string): Promise<void>
  getTag(executionId: string, key: string): Promise<string | null>
}

export interface Flows {
  /** A flow that can grow: empty, and open until it is closed. */
  create(request: FlowRequest): Promise<FlowCreated>
  /** Adds a new execution, with its dependencies if it has any; or an existing one without a flow. */
  addMember(request: AddMemberRequest): Promise<MemberAdded>
  /** Adds an edge between two members. It blocks the downstream, which must not have started. */
  connect(request: ConnectRequest): Promise<Connected>
  /** Closes a member's dependencies: no more edges will lead to it. */
  seal(request: SealRequest): Promise<Sealed>
  /** Closes the flow to members and edges: it ends with its last member, or now. */
  close(request: CloseRequest): Promise<FlowClosed>
  /** Members, edges and dependency policies in one call: all or nothing. A repeat returns the same result. */
  submitGraph(request: GraphRequest): Promise<SubmittedGraph>
  /** One flow, with the number of its members in each state, and their dependencies. */
  describe(flowId: string): Promise<FlowDetail | null>
  /** Newest first; within a partition in the order of ids. */
  list(request?: ListFlowsRequest): Promise<FlowPage>
  /** Members, edges and groups, in pages of up to 10,000 members, each with its inbound edges and its group. */
  graph(flowId: string, request?: FlowGraphRequest): Promise<FlowGraph | null>
  /** All edges, those that lead from a member, or those that lead to it. */
  edges(flowId: string, request?: ListEdgesRequest): Promise<EdgePage>
  describeEdge(flowId: string, edgeId: string): Promise<Edge | null>
  /** The outcomes and results of a member's upstreams, by name. */
  upstreamResults(executionId: string, request?: UpstreamResultsRequest): Promise<UpstreamResultPage>
  /** Whether an execution could be claimed now, and what prevents it. */
  eligibility(executionId: string): Promise<Eligibility>
  /** Resolves with the flow when it has ended, with any outcome; throws `wait_timed_out` when that takes too long. */
  wait(flowId: string, request?: WaitForFlowRequest): Promise<FlowDetail>
  /** The events of the flow itself, oldest first. */
  timeline(flowId: string, request?: TimelineRequest): Promise<TimelinePage>
  setTag(flowId: string, key: string, value: string): Promise<void>
  getTag(flowId: string, key: string): Promise<string | null>
  /** Ends the flow, and its members by the policy. A repeat returns the current state. */
  cancel(request: CancelFlowRequest): Promise<CancelFlowResult>
}

export interface Leases {
  /** Revokes a lease; the execution returns to its queue. */
  revoke(request: RevokeRequest): Promise<RevokeResult>
  /** Whether a holder's leases are still valid, and whether a stop is requested; renews nothing. */
  check(request: CheckLeasesRequest): Promise<readonly LeaseAnswer[]>
  /** Leases that have expired and that the duty has not reclaimed yet. */
  listExpired(request?: ListExpiredLeasesRequest): Promise<ExpiredLeasePage>
}

export interface Attempts {
  /** The attempts of one execution, oldest first, each with the error that ended it. */
  list(executionId: string, request?: ListAttemptsRequest): Promise<AttemptPage>
}

export interface Steps {
  /** The holder records the results of its code. Concurrent calls share a round trip. */
  record(request: RecordStepRequest): Promise<StepRecorded>
  recordMany(requests: readonly RecordStepRequest[]): Promise<(StepRecorded | Refused)[]>
  /** The records of the current generation, in their order. */
  list(executionId: string, request?: ListStepsRequest): Promise<StepPage>
}

export interface Suspensions {
  /** Suspended executions; the one that has been suspended longest comes first. */
  list(request?: ListSuspensionsRequest): Promise<SuspensionPage>
  /** The current suspension of an execution, or its last one with its ending; null when it had none. */
  describe(executionId: string): Promise<SuspensionDetail | null>
}

export interface Waitpoints {
  /** Creates a waitpoint before the suspension, so that its token can be handed out while the code still runs. */
  create(request: CreateWaitpointRequest): Promise<WaitpointCreated>
  /** The open waitpoints of an execution, without their tokens. */
  list(executionId: string, request?: ListWaitpointsRequest): Promise<WaitpointPage>
  /** The token of a waitpoint, for a caller with the right; writes an event. Null when it does not exist. */
  readToken(waitpointId: string): Promise<WaitpointToken | null>
  /** A link for one action. It works once, until it expires. */
  link(request: LinkRequest): Promise<ApprovalUrl>
  /** The request behind a link; the call does not use the link. */
  describeLink(request: DescribeLinkRequest): Promise<LinkDetail>
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
  /** All signals of an execution, in the order in which they were accepted. */
  list(executionId: string, request?: ListSignalsRequest): Promise<SignalPage>
}

export interface SigningKeys {
  /** Creates a new key, which signs from now on; the previous one verifies until its grace period is over. */
  rotate(request?: RotateRequest): Promise<RotateResult>
  /** Creates the first key, if none exists. */
  seed(request: SeedRequest): Promise<SeedResult>
  /** The keys that verify, without their secrets. */
  list(request?: ListSigningKeysRequest): Promise<readonly ListedSigningKey[]>
}

export interface Events {
  /**
   * The log from now on, or from a cursor: in order, nothing lost and nothing twice. Iterate it, and leave the loop or
   * abort the signal to end it.
   */
  subscribe(request?: SubscribeRequest): Promise<Subscription>
  /** The events of one execution, oldest first. */
  timeline(executionId: string, request?: TimelineRequest): Promise<TimelinePage>
}

export interface Lanes {
  list(request?: ListLanesRequest): Promise<LanePage>
  /** The number of executions and the throughput of each lane; bounded, for metrics. */
  measure(request?: MeasureLanesRequest): Promise<LaneMeasures>
}

export interface Workers {
  /** Registers a worker instance and the tasks that it serves. A repeat replaces them. */
  register(request: RegisterRequest): Promise<Registered>
  /** Reports that the instance is alive. Writes no event. */
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult>
  /** Marks an instance as dead before its registration expires. Its leases are not touched. */
  markDead(request: MarkDeadRequest): Promise<MarkDeadResult>
  /** The instances that are alive. */
  list(request?: ListWorkersRequest): Promise<WorkerPage>
}

export interface Schedules {
  /** Creates or changes the schedule as requested; a repeat changes nothing. */
  put(request: PutScheduleRequest): Promise<SchedulePut>
  /** Stops the schedule from firing until it is resumed. */
  pause(request: NamedSchedule): Promise<SchedulePaused>
  resume(request: NamedSchedule): Promise<ScheduleResumed>
  /** Fires it now, paused or not. */
  trigger(request: NamedSchedule): Promise<TriggerResult>
  describe(request: NamedSchedule): Promise<ScheduleDetail | null>
  list(request?: ListSchedulesRequest): Promise<SchedulePage>
  /** Deletes the schedule; its executions stay. */
  delete(request: NamedSchedule): Promise<ScheduleDeleted>
}

export interface ApiKeys {
  /** Creates an API key for a server; the key is returned only here. */
  create(request: CreateApiKeyRequest): Promise<ApiKeyCreated>
  list(request?: ListApiKeysRequest): Promise<ApiKeyPage>
  /** Revokes the key: it admits no call from now on. */
  revoke(request: RevokeApiKeyRequest): Promise<ApiKeyRevoked>
  /** The rights of a key; null if it is unknown, expired or revoked. */
  authenticate(request: AuthenticateRequest): Promise<ApiKey | null>
}
