// The nouns of the whole installation: the log, lanes, workers, schedules, keys.
import { del, get, post, put } from '../route.ts'

export const eventRoutes = {
  subscribe: get('subscribeEvents', '/v1/events', 'read', 'Subscribe to events from now on, or from a cursor', {
    streams: 'only',
  }),
  timeline: get(
    'getExecutionTimeline',
    '/v1/executions/{executionId}/timeline',
    'read',
    'List the events of an execution',
    {
      args: ['executionId', 'request'],
      streams: 'also',
    },
  ),
} as const

export const laneRoutes = {
  list: get('listLanes', '/v1/lanes', 'read', 'List lanes'),
  measure: get('measureLanes', '/v1/lanes/measure', 'read', 'Measure the depth and throughput of lanes'),
} as const

const worker = '/v1/workers/{workerInstanceId}'

export const workerRoutes = {
  register: put('registerWorker', worker, 'worker', 'Register a worker instance'),
  heartbeat: post('heartbeatWorker', `${worker}/heartbeat`, 'worker', 'Send a heartbeat of a worker instance', {
    isRepeatable: true,
  }),
  markDead: post('markWorkerDead', `${worker}/mark-dead`, ['worker', 'operate'], 'Remove a worker instance', {
    isRepeatable: true,
  }),
  list: get('listWorkers', '/v1/workers', 'read', 'List live worker instances'),
} as const

const schedule = '/v1/schedules/{scheduleId}'

export const scheduleRoutes = {
  put: put('putSchedule', schedule, ['submit', 'operate'], 'Create or update a schedule', {
    created: 'created',
    body: 'payload',
    remembers: true,
  }),
  pause: post('pauseSchedule', `${schedule}/pause`, ['submit', 'operate'], 'Pause a schedule', {
    isRepeatable: true,
  }),
  resume: post('resumeSchedule', `${schedule}/resume`, ['submit', 'operate'], 'Resume a schedule', {
    isRepeatable: true,
  }),
  trigger: post('triggerSchedule', `${schedule}/trigger`, ['submit', 'operate'], 'Trigger a schedule now'),
  describe: get('describeSchedule', schedule, 'read', 'Describe a schedule', {
    absent: 'schedule_not_found',
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'payloadEncoding', as: 'input' }],
  }),
  list: get('listSchedules', '/v1/schedules', 'read', 'List schedules'),
  delete: del('deleteSchedule', schedule, ['submit', 'operate'], 'Delete a schedule'),
} as const

export const signingKeyRoutes = {
  rotate: post('rotateSigningKey', '/v1/signing-keys/rotate', 'admin', 'Rotate to a new signing key'),
  seed: post('seedSigningKey', '/v1/signing-keys/seed', 'admin', 'Create the first signing key', {
    isRepeatable: true,
  }),
  list: get('listSigningKeys', '/v1/signing-keys', 'operate', 'List the valid signing keys, without secrets', {
    wrap: 'signingKeys',
  }),
} as const

export const apiKeyRoutes = {
  create: post('createApiKey', '/v1/api-keys', 'admin', 'Create an API key (its secret is returned once)', {
    created: 'created',
  }),
  list: get('listApiKeys', '/v1/api-keys', 'admin', 'List API keys, without secrets'),
  revoke: post('revokeApiKey', '/v1/api-keys/{keyId}/revoke', 'admin', 'Revoke an API key', {
    isRepeatable: true,
  }),
  authenticate: post(
    'authenticateApiKey',
    '/v1/api-keys/authenticate',
    'admin',
    'Read what the current API key allows',
    {
      absent: 'api_key_not_found',
      isRepeatable: true,
    },
  ),
} as const

export const serverTimeRoute = get(
  'getServerTime',
  '/v1/time',
  ['read', 'submit', 'worker', 'signal', 'operate'],
  "Read the database's clock",
  {
    args: [],
    wrap: 'serverTime',
  },
)
