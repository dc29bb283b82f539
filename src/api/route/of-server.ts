// What belongs to the whole: the log, lanes, workers, schedules, keys.
import { del, get, post, put } from '../route.ts'

export const eventRoutes = {
  subscribe: get('subscribeEvents', '/v1/events', 'read', 'The log from now on, or from a cursor', { streams: 'only' }),
  timeline: get('getExecutionTimeline', '/v1/executions/{executionId}/timeline', 'read', 'What happened to one', {
    args: ['executionId', 'request'],
    streams: 'also',
  }),
} as const

export const laneRoutes = {
  list: get('listLanes', '/v1/lanes', 'read', 'Lanes, page by page'),
  measure: get('measureLanes', '/v1/lanes/measure', 'read', 'What lanes hold, and how fast they go'),
} as const

const worker = '/v1/workers/{workerInstanceId}'

export const workerRoutes = {
  register: put('registerWorker', worker, 'worker', 'An instance is there, and serves this'),
  heartbeat: post('heartbeatWorker', `${worker}/heartbeat`, 'worker', 'It is still there', { isRepeatable: true }),
  markDead: post('markWorkerDead', `${worker}/mark-dead`, ['worker', 'operate'], 'It is gone', { isRepeatable: true }),
  list: get('listWorkers', '/v1/workers', 'read', 'Instances that are alive'),
} as const

const schedule = '/v1/schedules/{scheduleId}'

export const scheduleRoutes = {
  put: put('putSchedule', schedule, ['submit', 'operate'], 'Make it be as is asked for', {
    created: 'created',
    body: 'payload',
    remembers: true,
  }),
  pause: post('pauseSchedule', `${schedule}/pause`, ['submit', 'operate'], 'Fire at none of its times', {
    isRepeatable: true,
  }),
  resume: post('resumeSchedule', `${schedule}/resume`, ['submit', 'operate'], 'Fire at its times again', {
    isRepeatable: true,
  }),
  trigger: post('triggerSchedule', `${schedule}/trigger`, ['submit', 'operate'], 'Fire it now'),
  describe: get('describeSchedule', schedule, 'read', 'One schedule', {
    absent: 'schedule_not_found',
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'payloadEncoding', as: 'input' }],
  }),
  list: get('listSchedules', '/v1/schedules', 'read', 'Schedules, page by page'),
  delete: del('deleteSchedule', schedule, ['submit', 'operate'], 'It fires no more'),
} as const

export const signingKeyRoutes = {
  rotate: post('rotateSigningKey', '/v1/signing-keys/rotate', 'admin', 'A new key signs from now on'),
  seed: post('seedSigningKey', '/v1/signing-keys/seed', 'admin', 'The first key, where there is none', {
    isRepeatable: true,
  }),
  list: get('listSigningKeys', '/v1/signing-keys', 'operate', 'Those that verify; never their secrets', {
    wrap: 'signingKeys',
  }),
} as const

export const apiKeyRoutes = {
  create: post('createApiKey', '/v1/api-keys', 'admin', 'A key, told once', { created: 'created' }),
  list: get('listApiKeys', '/v1/api-keys', 'admin', 'Keys, never their secrets'),
  revoke: post('revokeApiKey', '/v1/api-keys/{keyId}/revoke', 'admin', 'It opens nothing any more', {
    isRepeatable: true,
  }),
  authenticate: post('authenticateApiKey', '/v1/api-keys/authenticate', 'admin', 'What a key allows', {
    absent: 'api_key_not_found',
    isRepeatable: true,
  }),
} as const

export const serverTimeRoute = get(
  'getServerTime',
  '/v1/time',
  ['read', 'submit', 'worker', 'signal', 'operate'],
  'The clock',
  {
    args: [],
    wrap: 'serverTime',
  },
)
