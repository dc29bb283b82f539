import { limits } from '../../model/limits.ts'
import { get, many, post, put } from '../route.ts'

const one = '/v1/executions/{executionId}'
const byId = ['executionId', 'request'] as const
const holder = { isRepeatable: true } as const

export const executionRoutes = {
  create: post('createExecution', '/v1/executions', ['submit', 'worker'], 'Create an execution', {
    created: 'created',
    body: 'payload',
    takesIdempotencyKey: true,
    remembers: true,
  }),
  createMany: many('createExecutions', '/v1/executions/create', ['submit', 'worker'], 'Create many executions', {
    remembers: true,
  }),
  claim: post('claimExecutions', '/v1/executions/claim', 'worker', 'Claim executions, each with a lease', {
    waits: 'wait',
    bytes: ['claims.*.payload', 'claims.*.resumption.signals.*.payload'],
  }),
  grant: post('grantExecution', `${one}/grant`, ['worker', 'operate'], 'Reserve an execution for a worker instance'),
  claimById: post('claimExecution', `${one}/claim`, 'worker', 'Claim an execution with its grant', {
    bytes: ['payload', 'resumption.signals.*.payload'],
  }),
  renew: post('renewExecutions', '/v1/executions/renew', 'worker', 'Renew the leases of a worker instance', {
    ...holder,
    body: 'batch',
    mostItems: limits.leaseCount,
    errors: ['leases.*.error'],
  }),
  complete: post('completeExecution', `${one}/complete`, 'worker', 'Complete an execution', {
    ...holder,
    body: 'payload',
  }),
  completeMany: many('completeExecutions', '/v1/executions/complete', 'worker', 'Complete many executions', holder),
  fail: post('failExecution', `${one}/fail`, 'worker', 'Fail an attempt', { ...holder, body: 'payload' }),
  failMany: many('failExecutions', '/v1/executions/fail', 'worker', 'Fail many attempts', holder),
  delay: post('delayExecution', `${one}/delay`, 'worker', 'Delay an execution until a time', holder),
  delayMany: many('delayExecutions', '/v1/executions/delay', 'worker', 'Delay many executions until a time', holder),
  release: post('releaseExecution', `${one}/release`, 'worker', 'Release an execution', holder),
  releaseMany: many('releaseExecutions', '/v1/executions/release', 'worker', 'Release many executions', holder),
  suspend: post('suspendExecution', `${one}/suspend`, 'worker', 'Suspend an execution until a condition is satisfied', {
    body: 'payload',
    bytes: ['resumption.signals.*.payload'],
  }),
  suspendMany: many(
    'suspendExecutions',
    '/v1/executions/suspend',
    'worker',
    'Suspend many executions until their conditions are satisfied',
    {
      bytes: ['items.*.resumption.signals.*.payload'],
    },
  ),
  trySuspend: post(
    'trySuspendExecution',
    `${one}/try-suspend`,
    'worker',
    'Suspend an execution, unless its condition is already satisfied',
    {
      body: 'payload',
      bytes: ['resumption.signals.*.payload'],
    },
  ),
  resume: post('resumeExecution', `${one}/resume`, 'operate', 'Resume a suspended execution'),
  resumeMany: many('resumeExecutions', '/v1/executions/resume', 'operate', 'Resume many suspended executions'),
  progress: post('progressExecution', `${one}/progress`, 'worker', 'Report progress', holder),
  replay: post('replayExecution', `${one}/replay`, 'operate', 'Replay an execution that has ended'),
  replayMany: many('replayExecutions', '/v1/executions/replay', 'operate', 'Replay many executions that have ended'),
  restart: post('restartExecution', `${one}/restart`, 'worker', 'Restart with a new input', { body: 'payload' }),
  warn: post('warnExecution', `${one}/warn`, 'worker', 'Record a warning in its history'),
  changePriority: put('changeExecutionPriority', `${one}/priority`, 'operate', 'Change the priority of an execution'),
  cancel: post('cancelExecution', `${one}/cancel`, ['operate', 'submit', 'worker'], 'Cancel an execution', holder),
  cancelMany: many(
    'cancelExecutions',
    '/v1/executions/cancel',
    ['operate', 'submit', 'worker'],
    'Cancel many executions',
    holder,
  ),
  describe: get('describeExecution', one, ['read', 'worker'], 'Describe an execution', {
    args: ['executionId'],
    absent: 'execution_not_found',
  }),
  explain: get('explainExecution', `${one}/explain`, 'read', 'Explain in a sentence why an execution is not running', {
    args: ['executionId'],
    absent: 'execution_not_found',
  }),
  result: get('getExecutionResult', `${one}/result`, ['read', 'submit', 'worker'], 'Read the result of an execution', {
    args: byId,
    absent: 'execution_not_found',
    waits: 'wait',
    bytes: ['result'],
    plain: [{ at: '', bytes: 'result', encoding: 'encoding', as: 'output' }],
  }),
  input: get('getExecutionInput', `${one}/input`, ['read', 'worker'], 'Read the input of an execution', {
    args: ['executionId'],
    absent: 'execution_not_found',
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'encoding', as: 'input' }],
  }),
  list: get('listExecutions', '/v1/executions', 'read', 'List executions'),
  countByState: get('countExecutions', '/v1/executions/count', 'read', 'Count executions by state'),
  resolveFlowId: get('getExecutionFlow', `${one}/flow`, 'read', 'Read the flow of an execution', {
    args: ['executionId'],
    wrap: 'flowId',
  }),
  getNamespace: get('getExecutionNamespace', `${one}/namespace`, 'read', 'Read the namespace of an execution', {
    args: ['executionId'],
    wrap: 'namespace',
  }),
  setTag: put('setExecutionTag', `${one}/tags/{key}`, ['operate', 'submit', 'worker'], 'Set a tag', {
    args: ['executionId', 'key', 'value'],
  }),
  getTag: get('getExecutionTag', `${one}/tags/{key}`, 'read', 'Read a tag', {
    args: ['executionId', 'key'],
    wrap: 'value',
  }),
} as const
