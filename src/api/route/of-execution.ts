// The nouns of an execution: its lease, attempts, steps, suspension, waitpoints and signals.
import { limits } from '../../model/limits.ts'
import { get, many, post } from '../route.ts'

const one = '/v1/executions/{executionId}'
const byId = ['executionId', 'request'] as const
const holder = { isRepeatable: true } as const

export const leaseRoutes = {
  revoke: post('revokeLease', `${one}/lease/revoke`, 'operate', 'Revoke a lease'),
  check: post('checkLeases', '/v1/leases/check', 'worker', 'Check whether leases are still valid', {
    ...holder,
    body: 'batch',
    mostItems: limits.leaseCount,
    wrap: 'leases',
    errors: ['leases.*.error'],
  }),
  listExpired: get('listExpiredLeases', '/v1/leases/expired', 'read', 'List expired leases that are not reclaimed yet'),
} as const

export const attemptRoutes = {
  list: get('listAttempts', `${one}/attempts`, ['read', 'submit', 'worker'], 'List the attempts of an execution', {
    args: byId,
    bytes: ['attempts.*.error'],
  }),
} as const

export const stepRoutes = {
  record: post('recordStep', `${one}/steps`, 'worker', 'Record a step', { ...holder, body: 'payload' }),
  recordMany: many('recordSteps', '/v1/steps/record', 'worker', 'Record steps of many executions', holder),
  list: get('listSteps', `${one}/steps`, ['read', 'worker'], 'List the recorded steps of the current generation', {
    args: byId,
    bytes: ['steps.*.result'],
    plain: [{ at: 'steps.*', bytes: 'result', encoding: 'resultEncoding', as: 'output' }],
  }),
} as const

export const suspensionRoutes = {
  list: get('listSuspensions', '/v1/suspensions', 'read', 'List suspended executions, longest first'),
  describe: get(
    'describeSuspension',
    `${one}/suspension`,
    ['read', 'worker'],
    'Describe the suspension of an execution',
    {
      args: ['executionId'],
      absent: 'execution_not_suspended',
    },
  ),
} as const

export const waitpointRoutes = {
  create: post('createWaitpoint', `${one}/waitpoints`, 'worker', 'Create a waitpoint before suspending', {
    created: 'waitpoint_created',
  }),
  list: get('listWaitpoints', `${one}/waitpoints`, ['read', 'worker'], 'List open waitpoints', {
    args: byId,
  }),
  readToken: post(
    'readWaitpointToken',
    '/v1/waitpoints/{waitpointId}/token',
    ['operate', 'worker'],
    'Read the token of a waitpoint (recorded as an event)',
    { args: ['waitpointId'], absent: 'waitpoint_not_found', ...holder },
  ),
  link: post(
    'linkWaitpoint',
    '/v1/waitpoints/{waitpointId}/link',
    ['operate', 'worker'],
    'Create an approval link, valid for one answer',
  ),
  describeLink: post('describeLink', '/v1/waitpoints/describe-link', [], 'Read an approval link without using it', {
    isRepeatable: true,
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'payloadEncoding', as: 'input' }],
  }),
} as const

export const signalRoutes = {
  deliver: post('deliverSignal', '/v1/waitpoints/{waitpointId}/signals', [], 'Signal a waitpoint with its token', {
    body: 'signal',
    takesIdempotencyKey: true,
  }),
  deliverMany: many('deliverSignals', '/v1/signals/deliver', [], 'Signal many waitpoints with their tokens', {
    body: 'signal',
  }),
  send: post('sendSignal', `${one}/signals`, ['signal', 'worker'], 'Send a named signal to an execution', {
    body: 'payload',
    takesIdempotencyKey: true,
  }),
  sendMany: many('sendSignals', '/v1/signals/send', ['signal', 'worker'], 'Send named signals to many executions'),
  approve: post(
    'approveWaitpoint',
    '/v1/waitpoints/{waitpointId}/approve',
    ['signal', 'operate'],
    'Signal a waitpoint without its token',
    { body: 'payload', ...holder },
  ),
  redeem: post('redeemLink', '/v1/signals/redeem', [], 'Use an approval link', { body: 'signal', ...holder }),
  list: get('listSignals', `${one}/signals`, ['read', 'worker'], 'List the signals of an execution', {
    args: byId,
    bytes: ['signals.*.payload'],
    plain: [{ at: 'signals.*', bytes: 'payload', encoding: 'payloadEncoding', as: 'value' }],
  }),
} as const
