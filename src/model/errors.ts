// Every error code of the engine. The HTTP status, the client, the CLI and the documentation use this table, so a code
// is added here and nowhere else. `retryable`: the same call, sent again unchanged, may succeed. `permanent`: the
// request itself is wrong, not the state of the system, so durable code that throws it would throw it in every further
// attempt, and gets none. All others are final for the call, and a later attempt may succeed.
import type { ExecutionId } from './id.ts'
import type { LifecyclePhase, PublicState, TerminalOutcome } from './state.ts'

export interface ErrorEntry {
  readonly status: number
  readonly retryable: boolean
  readonly permanent: boolean
  readonly meaning: string
}

function permanent(status: number, meaning: string): ErrorEntry {
  return { status, retryable: false, permanent: true, meaning }
}

function final(status: number, meaning: string): ErrorEntry {
  return { status, retryable: false, permanent: false, meaning }
}

function retryable(status: number, meaning: string): ErrorEntry {
  return { status, retryable: true, permanent: false, meaning }
}

export const errorTable = {
  // The request.
  invalid_input: permanent(400, 'A value has the wrong type, length or format; the details name the field.'),
  invalid_id: permanent(400, 'An id is not of the form {fp:N}:<uuid>.'),
  invalid_partition: permanent(400, 'A partition is not a whole number from 0 to 255, or does not match the id.'),
  invalid_cursor: permanent(400, 'A cursor is damaged, or comes from another list.'),
  invalid_capabilities: permanent(400, 'A list of capabilities is invalid; details.why names the reason.'),
  invalid_policy: permanent(400, 'An execution policy has an unknown field or an invalid value.'),
  invalid_tag: permanent(400, 'A tag key or value is invalid, or the limit of tags is exceeded.'),
  invalid_condition: permanent(
    400,
    'A resume condition is malformed, too deep, or can never be satisfied; the details name the path.',
  ),
  invalid_kid: permanent(400, 'The id of a signing key is empty, too long or contains a colon.'),
  invalid_secret_hex: permanent(400, 'The secret of a signing key is not an even number of hex digits, or too few.'),
  invalid_grace_ms: permanent(400, 'The grace of a rotated signing key is not a duration.'),
  missing_token: permanent(400, 'A signal was sent without the token of its waitpoint.'),
  invalid_token: permanent(
    400,
    'A waitpoint token is wrong, expired, or belongs to another waitpoint. For security, the error does not say which.',
  ),
  signal_limit_exceeded: permanent(
    400,
    'The execution has received the maximum number of signals that its policy allows.',
  ),
  waitpoint_limit_exceeded: permanent(400, 'The execution has the maximum number of unused waitpoints.'),
  invalid_dependency: permanent(400, 'An edge of a flow names an invalid dependency.'),
  // The client also uses it for the page of a proxy, and a proxy can be repaired.
  invalid_url: final(400, 'A connection URL cannot be parsed.'),
  payload_too_large: permanent(413, 'A payload, result, signal or frame is larger than its limit.'),
  too_many_items: permanent(400, 'A call has more items than the limit for one call.'),
  plain_input_refused: permanent(
    400,
    'The server accepts only bytes of a codec in this namespace, and the request has plain JSON.',
  ),
  route_not_found: final(404, 'The server has no route at this path.'),
  method_not_allowed: final(405, 'The path does not support this method; the Allow header lists the supported ones.'),
  request_timeout: retryable(408, 'The server did not receive the whole request in time.'),
  headers_too_large: final(431, 'The headers of the request exceed the size limit of the server.'),
  unsupported_media_type: final(415, 'The body is not application/json.'),
  fence_required: permanent(400, 'A write to a running execution needs its lease, and none was sent.'),

  // Authentication and rights.
  unauthenticated: final(401, 'The request has no valid credential.'),
  forbidden: final(403, 'The credential is valid, but does not allow this operation.'),
  namespace_mismatch: final(403, 'The call names a namespace other than the one that the caller is bound to.'),

  // Missing objects. An object of another namespace is not found, never forbidden.
  execution_not_found: final(404, 'No execution has this id.'),
  flow_not_found: final(404, 'No flow has this id.'),
  edge_not_found: final(404, 'The flow has no such edge.'),
  waitpoint_not_found: final(404, 'No waitpoint has this id or key.'),
  stream_not_found: final(404, 'The attempt has no stream.'),
  lane_not_found: final(404, 'The namespace has no lane of this name.'),
  schedule_not_found: final(404, 'No schedule has this id.'),
  budget_not_found: final(404, 'No budget has this id.'),
  quota_not_found: final(404, 'No quota has this id.'),
  signing_key_not_found: final(404, 'No signing key has this id, or none has been created yet.'),
  api_key_not_found: final(404, 'No API key has this id.'),
  grant_not_found: final(404, 'No active grant has this id.'),

  // Executions in another state than the operation needs.
  execution_id_taken: final(409, 'Another execution already has this id.'),
  idempotency_conflict: final(409, 'The idempotency key was already used for a different request.'),
  execution_not_cancellable: final(409, 'The execution has already ended, and not as cancelled.'),
  execution_not_active: final(
    409,
    'The execution has ended; the details have its phase, its outcome and its last attempt.',
  ),
  execution_not_runnable: final(409, 'The operation needs an execution that is waiting to be claimed.'),
  execution_not_suspended: final(409, 'The operation needs a suspended execution.'),
  execution_not_terminal: final(409, 'The operation needs an execution that has ended.'),
  execution_terminal: final(409, 'The execution has ended and accepts no further changes.'),
  replay_limit: final(409, 'The execution has reached the number of replays that its policy allows.'),
  contended: retryable(409, 'Another transaction locked the row for too long; nothing was changed.'),

  // Endings of an execution, for callers that wait for its result.
  execution_failed: final(
    409,
    'The execution failed and has no retries left. The cause has its error; the details have it without the stack.',
  ),
  execution_cancelled: final(409, 'The execution was cancelled.'),
  execution_expired: final(409, 'The execution expired: its deadline or timeout passed.'),
  execution_skipped: final(409, 'The execution was skipped, because its dependencies cannot succeed.'),
  wait_timed_out: retryable(504, 'The wait timed out. The execution continues; you can wait again.'),

  // Leases and grants.
  stale_lease: final(409, 'Another worker has taken over the execution; this lease is no longer valid.'),
  lease_expired: final(409, 'The lease expired before the write arrived.'),
  lease_revoked: final(409, 'An operator revoked the lease.'),
  capability_mismatch: final(409, 'The worker does not serve the kind, version or capabilities of the execution.'),
  grant_exists: final(409, 'The execution already has an active grant.'),
  grant_expired: final(409, 'The grant expired before it was used.'),

  // Steps and children.
  step_kind_conflict: permanent(409, 'The code reused the name of a recorded step for another kind of step.'),
  step_value_refused: permanent(409, 'The schema of the code rejected a recorded step value.'),
  // Not permanent: the result of a step may come from outside, such as a model, and the next try may return a better
  // one.
  step_output_refused: final(
    409,
    'The schema of a step rejected its result. The step is retried if its policy allows it.',
  ),
  step_not_found: final(404, 'The execution has no recorded step with this name.'),
  step_limit: permanent(409, 'The generation has reached the limit of recorded steps, or of their bytes.'),
  nondeterminism: permanent(409, 'A strict task ran its recorded steps in another order, or skipped one.'),
  unawaited_work: permanent(
    409,
    'A task returned with a step, wait, sleep or child that it never awaited; the details name it.',
  ),
  child_depth_limit: permanent(409, 'Children exceed the maximum nesting depth.'),

  // Suspensions and signals.
  waitpoint_closed: final(409, 'The waitpoint is closed and accepts no more signals.'),
  waitpoint_not_pending: final(
    409,
    'The waitpoint is already used by a suspension, or closed, and cannot be bound again.',
  ),
  pending_waitpoint_expired: final(409, 'The waitpoint expired before a suspension used it.'),
  target_not_signalable: final(409, 'The execution has ended, or is not waiting for this signal.'),
  rotation_conflict: final(409, 'A signing key with this id already exists with a different secret.'),

  // Flows.
  flow_id_taken: final(409, 'Another flow already has this id.'),
  edge_exists: final(409, 'A different edge with this id, or between the same members, already exists.'),
  member_name_taken: final(409, 'Another member of the flow already has this name.'),
  cycle_detected: final(409, 'The edge would make the flow depend on itself.'),
  execution_in_other_flow: final(409, 'The execution already belongs to another flow.'),
  execution_not_in_flow: final(409, 'The execution is not a member of this flow.'),
  flow_closed: final(409, 'The flow is closed and accepts no more members or edges.'),
  flow_terminal: final(409, 'The flow has ended or was cancelled, and accepts no more members or edges.'),
  group_sealed: final(409, 'The dependencies of the member are sealed; it accepts no more inbound edges.'),
  stale_graph_revision: final(409, 'The flow has changed since the revision that you read.'),

  // Streams, budgets, quotas.
  stream_closed: final(409, 'The stream is closed and accepts no more frames.'),
  budget_exists: final(409, 'A different budget with this id already exists.'),
  budget_exceeded: final(409, 'The budget is spent.'),
  quota_exists: final(409, 'A different quota with this id already exists.'),
  rate_limited: retryable(429, 'The caller sent more requests than the rate limit allows.'),
  concurrency_limited: retryable(429, 'The limit of concurrent executions is reached.'),

  // The database and the engine itself.
  database_unreachable: retryable(503, 'The database did not answer, or the connection was lost.'),
  database_unavailable: retryable(
    503,
    'The database is reachable, but cannot run the statement now: it is read-only, out of a resource, or cancelled the statement.',
  ),
  database_auth_failed: final(500, 'The database rejected the user or the password.'),
  database_right_missing: final(500, 'The database user lacks a permission that the engine needs.'),
  database_not_found: final(500, 'The server has no database with this name.'),
  database_error: final(500, 'The database rejected a statement with an unexpected error.'),
  directory_locked: final(503, 'Another process has the embedded database open.'),
  embedded_not_installed: final(
    503,
    'The embedded database needs the package @electric-sql/pglite, which is not installed.',
  ),
  schema_missing: final(503, 'The schema is not installed, and the connection may not install it (migrate is off).'),
  schema_outdated: final(503, 'Migrations are pending, and the connection may not run them (migrate is off).'),
  schema_differs: final(503, 'An applied migration differs from the one in this version of the code.'),
  migration_blocked: retryable(503, 'A migration is waiting for a lock of another transaction; the message names it.'),
  code_too_old: final(503, 'The database schema is newer than this version of the code supports.'),
  engine_closed: final(503, 'The engine has been closed.'),
  server_stopping: retryable(503, 'The server is shutting down; another server may answer.'),
  nested_query: final(500, 'A query used the root handle inside a transaction, which could deadlock.'),
  no_transaction: final(400, 'The client that you passed is not in an open transaction, or is of an unsupported kind.'),
  wrong_wrapping_secret: final(500, 'The stored signing keys were wrapped with a different secret.'),
  corruption: final(500, 'Stored data cannot be read, or is inconsistent.'),
  server_unreachable: retryable(503, 'The FlowFabric server did not answer.'),
  unsupported: final(501, 'This kind of connection does not support the operation.'),
  internal_error: final(500, 'Internal error: a bug in the engine. Please report it.'),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable

const outages: readonly ErrorCode[] = [
  'database_unreachable',
  'database_unavailable',
  'server_unreachable',
  'server_stopping',
]

/** The connection to the database or the server is lost; `connect` logs that once for the process. */
export function isUnreachable(error: unknown): boolean {
  return isOutage(error) && !EngineError.is(error, 'database_unavailable')
}

/** The database, or the server in front of it, is unreachable for now. */
export function isOutage(error: unknown): boolean {
  return EngineError.is(error) && outages.includes(error.code)
}

export type ErrorDetails = Readonly<Record<string, unknown>>

/** The codes whose details a program may rely on. The abort reason of a step whose run is over has only the id. */
interface TypedDetails {
  readonly execution_not_active: {
    readonly executionId: ExecutionId
    readonly publicState?: PublicState
    readonly lifecyclePhase?: LifecyclePhase
    readonly terminalOutcome?: TerminalOutcome
    /** The last attempt. */
    readonly attemptIndex?: number
    /** Of the refused write. */
    readonly leaseEpoch?: number
    readonly currentLeaseEpoch?: number
  }
}

/** `if (EngineError.is(error, 'execution_not_active')) error.details.terminalOutcome` */
export type DetailsOf<Code extends ErrorCode> = Code extends keyof TypedDetails
  ? ErrorDetails & TypedDetails[Code]
  : ErrorDetails

// Registered, so that two copies of the package in one process recognise each other's errors.
const brand = Symbol.for('flowfabric.EngineError')

export class EngineError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly retryable: boolean
  readonly status: number

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.details = Object.freeze({ ...details })
    this.retryable = errorTable[code].retryable
    this.status = errorTable[code].status
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'EngineError' })
    Object.defineProperty(this.prototype, brand, { value: true })
  }

  static is(value: unknown): value is EngineError
  static is<Code extends ErrorCode>(
    value: unknown,
    code: Code,
  ): value is EngineError & { readonly code: Code; readonly details: DetailsOf<Code> }
  static is(value: unknown, code?: ErrorCode): boolean {
    if (typeof value !== 'object' || value === null || !(brand in value)) return false
    return code === undefined || ('code' in value && value.code === code)
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === EngineError) return EngineError.is(value)
    return Function.prototype[Symbol.hasInstance].call(this, value)
  }

  /** The fields that may leave the process; the cause may contain secrets and stays. */
  toJSON(): { code: ErrorCode; message: string; status: number; retryable: boolean; details: ErrorDetails } {
    const { code, message, status, retryable, details } = this
    return { code, message, status, retryable, details }
  }
}

/** The usual refusal of a value: the value, and what is allowed. */
export function refusal(code: ErrorCode, field: string, found: string, allowed: string): EngineError {
  return new EngineError(code, `${field} is ${found}; it must be ${allowed}`, { field, found, allowed })
}
