// What hangs on an execution: its lease, attempts, steps, suspension, waitpoints and signals.
import { limits } from '../../model/limits.ts'
import { get, many, post } from '../route.ts'

const one = '/v1/executions/{executionId}'
const byId = ['executionId', 'request'] as const
const holder = { isRepeatable: true } as const

export const leaseRoutes = {
  revoke: post('revokeLease', `${one}/lease/revoke`, 'operate', 'Take a lease away'),
  check: post('checkLeases', '/v1/leases/check', 'worker', 'Whether leases still hold', {
    ...holder,
    body: 'batch',
    mostItems: limits.leaseCount,
    wrap: 'leases',
    errors: ['leases.*.error'],
  }),
  listExpired: get('listExpiredLeases', '/v1/leases/expired', 'read', 'Leases that wait for the sweep'),
} as const

export const attemptRoutes = {
  list: get('listAttempts', `${one}/attempts`, ['read', 'submit', 'worker'], 'Attempts of one execution', {
    args: byId,
    bytes: ['attempts.*.error'],
  }),
} as const

export const stepRoutes = {
  record: post('recordStep', `${one}/steps`, 'worker', 'Record what its code has done', { ...holder, body: 'payload' }),
  recordMany: many('recordSteps', '/v1/steps/record', 'worker', 'Record what much code has done', holder),
  list: get('listSteps', `${one}/steps`, ['read', 'worker'], 'What the current generation has recorded', {
    args: byId,
    bytes: ['steps.*.result'],
    plain: [{ at: 'steps.*', bytes: 'result', encoding: 'resultEncoding', as: 'output' }],
  }),
} as const

export const suspensionRoutes = {
  list: get('listSuspensions', '/v1/suspensions', 'read', 'Suspended executions, the longest first'),
  describe: get('describeSuspension', `${one}/suspension`, ['read', 'worker'], 'The suspension of an execution', {
    args: ['executionId'],
    absent: 'execution_not_suspended',
  }),
} as const

export const waitpointRoutes = {
  create: post('createWaitpoint', `${one}/waitpoints`, 'worker', 'A waitpoint ahead of the suspension', {
    created: 'waitpoint_created',
  }),
  list: get('listWaitpoints', `${one}/waitpoints`, ['read', 'worker'], 'Waitpoints that are not closed', {
    args: byId,
  }),
  readToken: post(
    'readWaitpointToken',
    '/v1/waitpoints/{waitpointId}/token',
    ['operate', 'worker'],
    'The token of a waitpoint; leaves an event',
    { args: ['waitpointId'], absent: 'waitpoint_not_found', ...holder },
  ),
  link: post(
    'linkWaitpoint',
    '/v1/waitpoints/{waitpointId}/link',
    ['operate', 'worker'],
    'A link that asks for one action, once',
  ),
  describeLink: post('describeLink', '/v1/waitpoints/describe-link', [], 'What a link asks; it answers nothing', {
    isRepeatable: true,
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'payloadEncoding', as: 'input' }],
  }),
} as const

export const signalRoutes = {
  deliver: post('deliverSignal', '/v1/waitpoints/{waitpointId}/signals', [], 'Answer a waitpoint, by its token', {
    body: 'signal',
    takesIdempotencyKey: true,
  }),
  deliverMany: many('deliverSignals', '/v1/signals/deliver', [], 'Answer many waitpoints, by their tokens', {
    body: 'signal',
  }),
  send: post('sendSignal', `${one}/signals`, ['signal', 'worker'], 'Signal an execution by name', {
    body: 'payload',
    takesIdempotencyKey: true,
  }),
  sendMany: many('sendSignals', '/v1/signals/send', ['signal', 'worker'], 'Signal many executions by name'),
  approve: post(
    'approveWaitpoint',
    '/v1/waitpoints/{waitpointId}/approve',
    ['signal', 'operate'],
    'Answer a waitpoint without its token',
    { body: 'payload', ...holder },
  ),
  redeem: post('redeemLink', '/v1/signals/redeem', [], 'Use an approval link', { body: 'signal', ...holder }),
  list: get('listSignals', `${one}/signals`, ['read', 'worker'], 'All that was sent to an execution', {
    args: byId,
    bytes: ['signals.*.payload'],
    plain: [{ at: 'signals.*', bytes: 'payload', encoding: 'payloadEncoding', as: 'value' }],
  }),
} as const
