// The limits of the engine. All bounds are inclusive.

const KiB = 1024
const MiB = 1024 * KiB

export const limits = {
  payloadBytes: MiB,
  resultBytes: MiB,
  stepResultBytes: MiB,
  signalBytes: 256 * KiB,
  frameBytes: 64 * KiB,
  errorBytes: 64 * KiB,
  controlBodyBytes: 64 * KiB,
  batchBodyBytes: 16 * MiB,
  // For a route without a key: one signal in base64, and its other fields.
  signalBodyBytes: Math.ceil((256 * KiB * 4) / 3) + 64 * KiB,
  // The nesting of arrays and objects; and the number of all values, nested ones included.
  bodyDepth: 100,
  bodyValueCount: 2_000_000,
  // Bodies that a server is reading or processing: of one key, of all keys, of one address without a key, of all.
  bodiesPerKeyBytes: 64 * MiB,
  bodiesOfKeysBytes: 256 * MiB,
  bodiesPerAddressBytes: 4 * MiB,
  bodiesOfAddressesBytes: 32 * MiB,

  // Concurrent calls of one key: requests, and separately waits and streams.
  callsPerKey: 1000,
  waitsPerKey: 10_000,
  // Responses that a server keeps for repeated requests.
  rememberedBytes: 32 * MiB,

  // Items of one call.
  setItems: 500,
  // Leases of one renewal or check. A worker names all of them at once, so that the reply lists the leases that it does
  // not know.
  leaseCount: 20_000,

  // For a prefix that finds ids: uuids begin with their time, so 8 characters cover a minute.
  idPrefixCharacters: 8,

  namespaceBytes: 128,
  laneBytes: 64,
  kindBytes: 256,
  versionBytes: 64,
  creatorBytes: 256,
  actorBytes: 256,
  reasonBytes: 4 * KiB,
  requestIdBytes: 128,
  idempotencyKeyBytes: 512,
  cursorBytes: 16 * KiB,
  waitpointKeyBytes: 256,
  signalNameBytes: 256,
  signalSourceBytes: 256,
  keyIdBytes: 64,
  leaseIdBytes: 64,
  grantIdBytes: 64,
  encodingBytes: 64,
  timeZoneBytes: 64,
  workerNameBytes: 256,
  hostBytes: 256,
  idempotencySuffixBytes: 128,
  apiKeyNameBytes: 128,
  requestsPerSecond: 1_000_000,
  // As long as the digest: a shorter one can be computed from one token.
  signingSecretMinBytes: 32,
  signingSecretBytes: 512,
  linkActionBytes: 64,
  linkPersonBytes: 128,
  // The approval page shows no more of the data, and indents nothing deeper.
  pageDataBytes: 20_000,
  pageDataDepth: 32,
  linkBytes: 2 * KiB,
  stepNameBytes: 256,

  tagCount: 64,
  tagKeyBytes: 128,
  tagValueBytes: KiB,

  capabilityCount: 256,
  capabilityListBytes: 4 * KiB,

  partitionCount: 256,
  priorityMax: 9000,
  pageSize: 1000,
  defaultPageSize: 50,

  answerTimeoutMinMs: 100,
  answerTimeoutMaxMs: 86_400_000,

  // Executions of one claim.
  claimCount: 10_000,
  leaseTtlMinMs: 100,
  leaseTtlMaxMs: 86_400_000,
  defaultLeaseTtlMs: 30_000,
  defaultEmbeddedLeaseTtlMs: 60_000,
  workerTtlMaxMs: 86_400_000,
  defaultWorkerTtlMs: 60_000,
  workerLaneCount: 256,
  workerKindCount: 1000,
  deathReasonBytes: 256,

  scheduleIdBytes: 200,
  cronBytes: 256,
  shortestIntervalMs: 1000,
  catchUpCount: 1000,
  defaultCatchUpCount: 100,
  // Firings of one schedule that wait for the execution of the previous one.
  queuedFirings: 1000,
  jitterMs: 86_400_000,

  // A hundred years: a point in time plus a duration is always a safe integer.
  durationMs: 3_155_760_000_000,

  attempts: 1000,
  backoffMultiplier: 1000,
  reclaimCount: 1_000_000,
  // For a raw execution, and for a task.
  defaultReclaimCount: 100,
  defaultTaskReclaimCount: 5,
  // The wait before the second reclaim in a row; it doubles with each further one.
  reclaimDelayMs: 1000,
  reclaimDelayMaxMs: 60_000,
  /** How long an execution may clean up after it was asked to stop, if the cancel sets no time. */
  cancelDeadlineMs: 600_000,
  replayCount: 1_000_000,
  defaultReplayCount: 10,
  signalCount: 10_000,
  // One token may not use up the signals of its whole execution.
  waitpointSignalCount: 1000,

  waitpointCount: 100,
  // Waitpoints of one execution that were created in advance and are not used yet.
  pendingWaitpointCount: 1000,
  // Children are leaves too, so a wait for many of them is large.
  conditionBytes: MiB,
  conditionDepth: 4,
  predicateDepth: 4,
  predicateValueDepth: 32,
  stepCount: 10_000,
  stepBytes: 64 * MiB,
  childDepth: 32,

  // Of one flow, and of all the flows of one graph together.
  flowMemberCount: 100_000,
  flowEdgeCount: 500_000,
  flowDepth: 8,
  memberNameBytes: 256,
  dataRefBytes: 256,
} as const
