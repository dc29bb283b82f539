export { connect, type ConnectOptions } from './connect/connect.ts'
export type { FlowFabric, Health, WorkOptions } from './connect/flowfabric.ts'
export type { Handle, ResultOptions } from './connect/handle.ts'
export type {
  BuildFlow,
  Dependency,
  FlowBuilder,
  InnerFlowOptions,
  MemberOptions,
  MemberRef,
} from './connect/flow-builder.ts'
export type { FlowHandle, FlowOptions } from './connect/flow.ts'
export type { SigningOptions } from './connect/signing-options.ts'
export type { ScheduleOptions, ScheduleScope, UserSchedules } from './connect/schedules.ts'
export { jsonCodec, type Codec, type Encoded } from './model/codec.ts'
export { decodeError, encodeError, type RecordedError } from './model/recorded-error.ts'
export type { CallerOptions } from './engine/caller.ts'
export type { Attempt, AttemptPage, ListAttemptsRequest } from './engine/attempt/list.ts'
export type {
  Attempts,
  Engine,
  Events,
  Executions,
  Flows,
  Lanes,
  Leases,
  Refused,
  Schedules,
  Signals,
  SigningKeys,
  Steps,
  Suspensions,
  Waitpoints,
  Workers,
} from './engine/contract.ts'
export type { EventKind, LeaseEffect, LogEvent } from './engine/event/log-event.ts'
export type { SubscribeRequest } from './engine/event/subscribe.ts'
export type { Subscription, Truncated } from './engine/event/subscription.ts'
export type { TimelinePage, TimelineRequest } from './engine/event/timeline.ts'
export type { CancelFlowRequest, CancelFlowResult, CancelPolicy } from './engine/flow/cancel.ts'
export type { AddMemberRequest, InboundEdge } from './engine/flow/add-member-request.ts'
export type { MemberAdded } from './engine/flow/add-member.ts'
export type { CloseRequest, FlowClosed } from './engine/flow/close.ts'
export type { ConnectRequest } from './engine/flow/connect-request.ts'
export type { Connected } from './engine/flow/connect.ts'
export type { FlowCreated } from './engine/flow/create.ts'
export type { FlowDetail } from './engine/flow/describe.ts'
export type { EdgeGroup } from './engine/flow/edge-group.ts'
export type { Edge } from './engine/flow/edge.ts'
export type { EdgePage, ListEdgesRequest } from './engine/flow/edges.ts'
export type { Eligibility } from './engine/flow/eligibility.ts'
export type { FlowRequest } from './engine/flow/flow-request.ts'
export type {
  EdgeTraits,
  ExecutionMember,
  FlowMember,
  Graph,
  GraphEdge,
  GraphGroup,
  GraphMember,
  GraphRequest,
  InnerFlow,
  MemberExecution,
} from './engine/flow/graph-request.ts'
export type { FlowGraph, FlowGraphRequest, Member } from './engine/flow/graph.ts'
export type { FlowPage, ListFlowsRequest } from './engine/flow/list.ts'
export type { Sealed, SealRequest } from './engine/flow/seal.ts'
export type { EndedCounts, Flow, FlowCancellation, FlowState } from './engine/flow/snapshot.ts'
export type { SubmittedFlow, SubmittedGraph } from './engine/flow/submit-graph.ts'
export type { UpstreamResult, UpstreamResultPage, UpstreamResultsRequest } from './engine/flow/upstream-results.ts'
export type { WaitForFlowRequest } from './engine/flow/wait.ts'
export type { ChangePriorityRequest, PriorityChanged } from './engine/execution/change-priority.ts'
export type { ClaimByIdRequest } from './engine/execution/claim-by-id.ts'
export type { Granted, GrantRequest } from './engine/execution/grant.ts'
export type { ProgressRecorded, ProgressRequest } from './engine/execution/progress.ts'
export type { Replayed, ReplayRequest } from './engine/execution/replay-request.ts'
export type { RestartRequest, RestartResult } from './engine/execution/restart.ts'
export type { Warned, WarnRequest } from './engine/execution/warn.ts'
export type { CheckLeasesRequest } from './engine/lease/check.ts'
export type { ExpiredLease, ExpiredLeasePage, ListExpiredLeasesRequest } from './engine/lease/list-expired.ts'
export type { RevokeRequest, RevokeResult } from './engine/lease/revoke.ts'
export type { Claim } from './engine/execution/claim.ts'
export type { ClaimRequest, ClaimResult } from './engine/execution/claimer.ts'
export type { Completed, CompleteRequest } from './engine/execution/complete.ts'
export type { FailRequest, FailResult } from './engine/execution/fail.ts'
export type { DelayRequest, DelayResult, ReleaseRequest, ReleaseResult } from './engine/execution/give-back.ts'
export type { LeaseAnswer, RenewRequest, RenewResult } from './engine/execution/renew.ts'
export type { Fence } from './engine/fence.ts'
export type { CancelRequest, CancelResult } from './engine/execution/cancel.ts'
export type { CountRequest, StateCount, StateCounts } from './engine/execution/count.ts'
export type { CreateRequest, OnParentEnd } from './engine/execution/create-request.ts'
export type { Created, CreateResult, Duplicate } from './engine/execution/create-answer.ts'
export type { ExecutionPage, ListRequest } from './engine/execution/list.ts'
export type { ExecutionInput } from './engine/execution/input.ts'
export type { ExecutionResult, ResultRequest } from './engine/execution/result.ts'
export type { Resumed, ResumeRequest } from './engine/execution/resume.ts'
export type { Execution, Lease, Progress } from './engine/execution/snapshot.ts'
export type { Suspended, SuspendResult, TrySuspendResult } from './engine/execution/suspend.ts'
export type { CheckHealthRequest, HealthReport } from './engine/health/check.ts'
export type { Finding, Verdict } from './engine/health/finding.ts'
export type { Repair } from './engine/health/repair.ts'
export type { DutyReport, DutyTurn } from './engine/reconcilers/duty-loop.ts'
export type { SuperviseOptions, Supervisor } from './engine/reconcilers/supervisor.ts'
export type { LaneMeasure, LaneMeasures, MeasureLanesRequest } from './engine/lane/measure.ts'
export type { LaneEndings, Spans } from './engine/lane/measure-endings.ts'
export type { Lane, LanePage, LaneState, ListLanesRequest } from './engine/lane/list.ts'
export type { ApproveRequest } from './engine/signal/approve.ts'
export type { DeliverRequest } from './engine/signal/deliver.ts'
export type { SignalContent, SignalResult } from './engine/signal/incoming.ts'
export type { ListSignalsRequest, SignalPage } from './engine/signal/list.ts'
export type { RedeemRequest } from './engine/signal/redeem.ts'
export type { SendRequest } from './engine/signal/send.ts'
export type { Signal } from './engine/signal/signal.ts'
export type { ListedSigningKey, ListSigningKeysRequest } from './engine/signing-key/list.ts'
export type { RotateRequest, RotateResult } from './engine/signing-key/rotate.ts'
export type { SeedRequest, SeedResult } from './engine/signing-key/seed.ts'
export type { ListStepsRequest, StepPage } from './engine/step/list.ts'
export type { RecordStepRequest, StepRecorded } from './engine/step/record.ts'
export type { Step } from './engine/step/step.ts'
export type { SuspensionDetail } from './engine/suspension/describe.ts'
export type { ListedSuspension, ListSuspensionsRequest, SuspensionPage } from './engine/suspension/list.ts'
export type { SuspendRequest, WaitpointBinding } from './engine/suspension/request.ts'
export type { Resumption } from './engine/suspension/resumption.ts'
export type { Suspension } from './engine/suspension/suspension.ts'
export type { CreateWaitpointRequest, WaitpointCreated } from './engine/waitpoint/create.ts'
export type { DescribeLinkRequest, LinkDetail } from './engine/waitpoint/describe-link.ts'
export type { ApprovalUrl, LinkRequest } from './engine/waitpoint/link.ts'
export type { ListWaitpointsRequest, Waitpoint, WaitpointPage } from './engine/waitpoint/list.ts'
export type { WaitpointToken } from './engine/waitpoint/read-token.ts'
export type { BoundWaitpoint } from './engine/waitpoint/tokens.ts'
export type { ApiKey } from './engine/api-key/api-key.ts'
export type { AuthenticateRequest } from './engine/api-key/authenticate.ts'
export type { ApiKeyCreated, CreateApiKeyRequest } from './engine/api-key/create.ts'
export type { ApiKeyPage, ListApiKeysRequest } from './engine/api-key/list.ts'
export type { ApiKeyRevoked, RevokeApiKeyRequest } from './engine/api-key/revoke.ts'
export type { ScheduleDeleted } from './engine/schedule/delete.ts'
export type { ScheduleDetail } from './engine/schedule/describe.ts'
export type { ListSchedulesRequest, SchedulePage } from './engine/schedule/list.ts'
export type { NamedSchedule } from './engine/schedule/named.ts'
export type { SchedulePaused } from './engine/schedule/pause.ts'
export type { PutScheduleRequest, ScheduledExecution } from './engine/schedule/put-request.ts'
export type { SchedulePut } from './engine/schedule/put.ts'
export type { ScheduleResumed } from './engine/schedule/resume.ts'
export type { Schedule } from './engine/schedule/schedule.ts'
export type { TriggerResult } from './engine/schedule/trigger.ts'
export type { HeartbeatRequest, HeartbeatResult } from './engine/worker/heartbeat.ts'
export type { ListWorkersRequest, WorkerInstance, WorkerPage } from './engine/worker/list.ts'
export type { MarkDeadRequest, MarkDeadResult } from './engine/worker/mark-dead.ts'
export type { Registered, RegisterRequest } from './engine/worker/register.ts'
export type { UserWithin as Within } from './connect/within.ts'
export type { Scope } from './model/api-key.ts'
export type { Condition, NodePath } from './model/condition.ts'
export type { Duration } from './model/duration.ts'
export { EngineError, type ErrorCode, type ErrorDetails } from './model/errors.ts'
export type {
  EdgeKind,
  EdgeResolution,
  GroupState,
  JoinPolicy,
  JoinPolicyInput,
  OnSatisfied,
} from './model/edge-group.ts'
export type { Aside, ExplainFacts, WorkerCounts } from './model/explain-facts.ts'
export type { Explanation } from './model/explain.ts'
export { mintExecutionId, mintFlowId, type ExecutionId, type FlowId, type WaitpointId } from './model/id.ts'
export type { ExecutionPolicy, PolicyInput } from './model/policy.ts'
export type { Predicate } from './model/predicate.ts'
export type { CatchUp, Overlap } from './model/schedule.ts'
export type { SignalEffect, SignalSource } from './model/signal.ts'
export type { BlockingReason, PublicState, StateVector } from './model/state.ts'
export type { StepKind, StepState } from './model/step.ts'
export type { CloseReason, SuspensionReason, TimeoutBehaviour, WaitpointState } from './model/suspension.ts'
export type { TransactionClient } from './sql/borrowed-client.ts'
export type { Logger } from './sql/logger.ts'
export type {
  ChildHandle,
  ChildOptions,
  Context,
  StepOptions,
  StepTry,
  Upstream,
  Wait,
  WaitForOptions,
  Waitpoint as ContextWaitpoint,
} from './worker/context.ts'
export { ChildError, PermanentError, RunLeft, StepError, StepTimeoutError, WaitTimeoutError } from './worker/errors.ts'
export type { LeaseHealth } from './worker/leases.ts'
export type { Middleware } from './worker/middleware.ts'
export type { RecordedBytes, RecordedRun, RecordedRunStep } from './worker/recorded-run.ts'
export type { Schema } from './worker/schema.ts'
export type { SubmitOptions } from './worker/submission.ts'
export { task, type Handler, type Task, type TaskOptions } from './worker/task.ts'
export { verify, type VerifiedRun, type VerifyReport } from './worker/verify.ts'
export type { WorkerOptions } from './worker/options.ts'
export type { Worker } from './worker/worker.ts'
