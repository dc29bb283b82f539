// Every way in which the engine says no. The table feeds the HTTP status, the client, the CLI and the documentation, so a
// code is added here and nowhere else. `retryable` means: the same call, sent again unchanged, may succeed. `permanent` means:
// the request itself is wrong, and not the state of the world, so that durable code that meets it would meet it in every
// further attempt, and has none. What is neither is final for the call, and a later attempt may do better.
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
  // What the caller sent.
  invalid_input: permanent(400, 'A value has the wrong type, length or form; the details name the field.'),
  invalid_id: permanent(400, 'An id is not of the form {fp:N}:<uuid>.'),
  invalid_partition: permanent(
    400,
    'A partition is not a whole number from 0 to 255, or not the one that must be used.',
  ),
  invalid_cursor: permanent(400, 'A cursor is damaged, or was given out by another list.'),
  invalid_capabilities: permanent(400, 'A list of capabilities breaks a rule; details.why says which.'),
  invalid_policy: permanent(400, 'An execution policy has an unknown field or a value that cannot be honoured.'),
  invalid_tag: permanent(400, 'A tag key or value breaks the rules, or there are too many tags.'),
  invalid_condition: permanent(
    400,
    'A resume condition is malformed, too deep, or can never be met; the details say where.',
  ),
  invalid_kid: permanent(400, 'The id of a signing key is empty, too long or contains a colon.'),
  invalid_secret_hex: permanent(400, 'The secret of a signing key is not an even number of hex digits, or too few.'),
  invalid_grace_ms: permanent(400, 'The grace of a rotated signing key is not a duration.'),
  missing_token: permanent(400, 'A signal came without the token of its waitpoint.'),
  invalid_token: permanent(
    400,
    'A waitpoint token is wrong, expired, or belongs to something else; which is not told.',
  ),
  signal_limit_exceeded: permanent(400, 'The execution has received as many signals as its policy allows.'),
  waitpoint_limit_exceeded: permanent(
    400,
    'The execution has as many waitpoints that no suspension has used as it may.',
  ),
  invalid_dependency: permanent(400, 'An edge of a flow names something that cannot be depended upon.'),
  // The client says it of a proxy's page too, and a proxy can be mended.
  invalid_url: final(400, 'A connection URL cannot be understood.'),
  payload_too_large: permanent(413, 'A payload, result, signal or frame is larger than its limit.'),
  too_many_items: permanent(400, 'A call carries more items than one call may.'),
  route_not_found: final(404, 'The server has nothing at this path.'),
  method_not_allowed: final(405, 'The path exists, with other methods; the header Allow names them.'),
  request_timeout: retryable(408, 'The request did not arrive whole in the time that the server gives it.'),
  headers_too_large: final(431, 'The headers of the request are larger than the server takes.'),
  unsupported_media_type: final(415, 'The body is not application/json.'),
  fence_required: permanent(400, 'A write on a running execution came without the lease that allows it.'),

  // Who may do it.
  unauthenticated: final(401, 'The request carries no valid credential.'),
  forbidden: final(403, 'The credential is valid and does not allow this operation.'),
  namespace_mismatch: final(403, 'The call names another namespace than the one its caller is bound to.'),

  // What is not there. A thing of another namespace is not found, never forbidden.
  execution_not_found: final(404, 'No execution has this id.'),
  attempt_not_found: final(404, 'The execution has no attempt with this index.'),
  flow_not_found: final(404, 'No flow has this id.'),
  edge_not_found: final(404, 'The flow has no such edge.'),
  waitpoint_not_found: final(404, 'No waitpoint has this id or key.'),
  stream_not_found: final(404, 'The attempt has no stream.'),
  lane_not_found: final(404, 'The namespace has no lane of this name.'),
  worker_not_found: final(404, 'No worker instance has this id.'),
  schedule_not_found: final(404, 'No schedule has this id.'),
  budget_not_found: final(404, 'No budget has this id.'),
  quota_not_found: final(404, 'No quota has this id.'),
  signing_key_not_found: final(404, 'No signing key has this id, or none has been made yet.'),
  api_key_not_found: final(404, 'No API key has this id.'),
  grant_not_found: final(404, 'No live grant answers to this key.'),

  // Executions in another state than the operation needs.
  execution_id_taken: final(409, 'Another execution already has this id.'),
  idempotency_conflict: final(409, 'The idempotency key was used before, for a different request.'),
  execution_not_cancellable: final(409, 'The execution has ended in another way than cancelled.'),
  execution_not_active: final(
    409,
    'The execution has ended; the details have its phase, its outcome and its last attempt.',
  ),
  execution_not_runnable: final(409, 'The operation needs an execution that waits to be claimed.'),
  execution_not_suspended: final(409, 'The operation needs a suspended execution.'),
  execution_not_terminal: final(409, 'The operation needs an execution that has ended.'),
  execution_terminal: final(409, 'The execution has ended and accepts nothing more.'),
  replay_limit: final(409, 'The execution has been replayed as often as its policy allows.'),
  contended: retryable(409, 'Another transaction held the row for too long; nothing was changed.'),

  // How an execution ended, for those who wait for its result.
  execution_failed: final(
    409,
    'The execution failed for good; its error is the cause, and is in the details without its stack.',
  ),
  execution_cancelled: final(409, 'The execution was cancelled.'),
  execution_expired: final(409, 'The execution ran out of time.'),
  execution_skipped: final(409, 'The execution was skipped, because what it depends on cannot succeed.'),
  wait_timed_out: retryable(504, 'The thing waited for did not happen in the time given; it may yet.'),

  // Leases and grants.
  stale_lease: final(409, 'Another holder has had the execution since; this lease is over.'),
  lease_expired: final(409, 'The lease ran out before the write arrived.'),
  lease_revoked: final(409, 'An operator took the lease away.'),
  lease_not_held: final(409, 'Nobody holds a lease on the execution.'),
  capability_mismatch: final(409, 'The worker does not serve the kind, version or capabilities of the execution.'),
  grant_exists: final(409, 'The execution already has a live grant.'),
  grant_expired: final(409, 'The grant ran out before it was redeemed.'),

  // Steps and children.
  step_kind_conflict: permanent(409, 'A recorded step name was met again as another kind of step.'),
  step_value_refused: permanent(409, 'A recorded step value is refused by the schema of the code that reads it.'),
  // Not permanent: what a step gives may come from outside, such as a model, and the next try may give better.
  step_output_refused: final(
    409,
    'The result of a step is refused by its schema. The step is tried again if its policy allows it.',
  ),
  step_not_found: final(404, 'The execution has recorded no step of this name.'),
  step_limit: permanent(409, 'The generation has recorded as many steps, or bytes of them, as one may.'),
  nondeterminism: permanent(409, 'A strict task met its recorded steps in another order, or not at all.'),
  unawaited_work: permanent(
    409,
    'A task returned with a step, wait, sleep or child that it never awaited; the details name it.',
  ),
  child_depth_limit: permanent(409, 'Children are nested as deep as they may be.'),

  // Suspensions and signals.
  waitpoint_exists: final(409, 'The execution already has a waitpoint with this key.'),
  waitpoint_closed: final(409, 'The waitpoint no longer takes signals.'),
  waitpoint_not_pending: final(
    409,
    'The waitpoint has been used by a suspension, or closed, and cannot be bound again.',
  ),
  pending_waitpoint_expired: final(409, 'The waitpoint expired before a suspension used it.'),
  already_suspended: final(409, 'The execution has been suspended already.'),
  target_not_signalable: final(409, 'The execution has ended, or waits for nothing that this signal could answer.'),
  rotation_conflict: final(409, 'A signing key with this id exists and holds another secret.'),

  // Flows.
  flow_id_taken: final(409, 'Another flow already has this id.'),
  edge_exists: final(409, 'An edge with this id, or between the same members, exists and is different.'),
  member_name_taken: final(409, 'Another member of the flow already has this name.'),
  cycle_detected: final(409, 'The edge would make the flow depend on itself.'),
  execution_in_other_flow: final(409, 'The execution already belongs to another flow.'),
  execution_not_in_flow: final(409, 'The execution is no member of this flow.'),
  flow_closed: final(409, 'The flow was closed and takes no more members or edges.'),
  flow_terminal: final(409, 'The flow has ended or was cancelled, and takes no more members or edges.'),
  group_sealed: final(409, 'What the member waits for is settled; it takes no more inbound edges.'),
  stale_graph_revision: final(409, 'The flow has changed since the revision that the caller read.'),

  // Streams, budgets, quotas.
  stream_closed: final(409, 'The stream is closed and takes no more frames.'),
  budget_exists: final(409, 'A budget with this id exists and is different.'),
  budget_exceeded: final(409, 'The budget is spent.'),
  quota_exists: final(409, 'A quota with this id exists and is different.'),
  rate_limited: retryable(429, 'More requests came in the window than allowed.'),
  concurrency_limited: retryable(429, 'As many run at once as allowed.'),

  // The database and the engine itself.
  database_unreachable: retryable(503, 'The database did not answer, or the connection was lost.'),
  database_unavailable: retryable(
    503,
    'The database is there and cannot do it now: it is read-only, has run out of something, or cancelled the statement.',
  ),
  database_auth_failed: final(500, 'The database refused the user or the password.'),
  database_right_missing: final(500, 'The database user lacks a right that the engine needs.'),
  database_not_found: final(500, 'The server has no database of this name.'),
  database_error: final(500, 'The database refused a statement in a way that the engine did not expect.'),
  directory_locked: final(503, 'Another process has the embedded database open.'),
  embedded_not_installed: final(
    503,
    'The embedded database needs the package @electric-sql/pglite, which is not installed.',
  ),
  schema_missing: final(503, 'The schema has not been installed and the engine was told not to install it.'),
  schema_outdated: final(503, 'Migrations are pending and the engine was told not to run them.'),
  schema_differs: final(503, 'A migration of the schema is not the one that this version of the code has.'),
  migration_blocked: retryable(503, 'A migration waits for a lock of another transaction, which the message names.'),
  code_too_old: final(503, 'The database has been migrated beyond what this version of the code can work with.'),
  engine_closed: final(503, 'The engine has been closed.'),
  server_stopping: retryable(503, 'The server is about to stop; another may answer.'),
  nested_query: final(500, 'A query went to the root handle inside a transaction, where it could wait for itself.'),
  no_transaction: final(400, 'What was given is no open transaction that the engine can work in.'),
  wrong_wrapping_secret: final(500, 'Stored signing keys were wrapped by another secret than the one given.'),
  corruption: final(500, 'Stored data cannot be understood, or contradicts itself.'),
  server_unreachable: retryable(503, 'The FlowFabric server did not answer.'),
  unsupported: final(501, 'This kind of connection cannot do the operation.'),
  internal_error: final(500, 'The engine met a fault of its own.'),
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

/** The database, or the server before it, is away for now. */
export function isOutage(error: unknown): boolean {
  return EngineError.is(error) && outages.includes(error.code)
}

export type ErrorDetails = Readonly<Record<string, unknown>>

/** Of the codes whose details a program may rely on. The abort reason of a step whose run is over has the id alone. */
interface TypedDetails {
  readonly execution_not_active: {
    readonly executionId: ExecutionId
    readonly publicState?: PublicState
    readonly lifecyclePhase?: LifecyclePhase
    readonly terminalOutcome?: TerminalOutcome
    /** The last attempt. */
    readonly attemptIndex?: number
    /** Of the write that was refused. */
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

  /** What may leave the process; the cause may hold secrets and stays. */
  toJSON(): { code: ErrorCode; message: string; status: number; retryable: boolean; details: ErrorDetails } {
    const { code, message, status, retryable, details } = this
    return { code, message, status, retryable, details }
  }
}

/** The usual refusal of a value: what it is, and what it must be. */
export function refusal(code: ErrorCode, field: string, found: string, allowed: string): EngineError {
  return new EngineError(code, `${field} is ${found}; it must be ${allowed}`, { field, found, allowed })
}
