import { limits } from '../../model/limits.ts'
import { get, many, post, put } from '../route.ts'

const one = '/v1/executions/{executionId}'
const byId = ['executionId', 'request'] as const
const holder = { isRepeatable: true } as const

export const executionRoutes = {
  create: post('createExecution', '/v1/executions', ['submit', 'worker'], 'Accept one unit of work', {
    created: 'created',
    body: 'payload',
    takesIdempotencyKey: true,
    remembers: true,
  }),
  createMany: many('createExecutions', '/v1/executions/create', ['submit', 'worker'], 'Accept many units of work', {
    remembers: true,
  }),
  claim: post('claimExecutions', '/v1/executions/claim', 'worker', 'Take executions, each under a lease', {
    waits: 'wait',
    bytes: ['claims.*.payload', 'claims.*.resumption.signals.*.payload'],
  }),
  grant: post('grantExecution', `${one}/grant`, ['worker', 'operate'], 'Reserve one for a worker instance'),
  claimById: post('claimExecution', `${one}/claim`, 'worker', 'Claim one by the grant for it', {
    bytes: ['payload', 'resumption.signals.*.payload'],
  }),
  renew: post('renewExecutions', '/v1/executions/renew', 'worker', 'Keep the leases of a worker instance', {
    ...holder,
    body: 'batch',
    mostItems: limits.leaseCount,
    errors: ['leases.*.error'],
  }),
  complete: post('completeExecution', `${one}/complete`, 'worker', 'The work is done', { ...holder, body: 'payload' }),
  completeMany: many('completeExecutions', '/v1/executions/complete', 'worker', 'Much work is done', holder),
  fail: post('failExecution', `${one}/fail`, 'worker', 'The attempt failed', { ...holder, body: 'payload' }),
  failMany: many('failExecutions', '/v1/executions/fail', 'worker', 'Many attempts failed', holder),
  delay: post('delayExecution', `${one}/delay`, 'worker', 'Give it back until a time', holder),
  delayMany: many('delayExecutions', '/v1/executions/delay', 'worker', 'Give many back until a time', holder),
  release: post('releaseExecution', `${one}/release`, 'worker', 'Give it back at once', holder),
  releaseMany: many('releaseExecutions', '/v1/executions/release', 'worker', 'Give many back at once', holder),
  suspend: post('suspendExecution', `${one}/suspend`, 'worker', 'Park it until a condition is met', {
    body: 'payload',
    bytes: ['resumption.signals.*.payload'],
  }),
  suspendMany: many('suspendExecutions', '/v1/executions/suspend', 'worker', 'Park many until a condition is met', {
    bytes: ['items.*.resumption.signals.*.payload'],
  }),
  trySuspend: post('trySuspendExecution', `${one}/try-suspend`, 'worker', 'Park it, unless its condition is met', {
    body: 'payload',
    bytes: ['resumption.signals.*.payload'],
  }),
  resume: post('resumeExecution', `${one}/resume`, 'operate', 'Take it out of its suspension'),
  resumeMany: many('resumeExecutions', '/v1/executions/resume', 'operate', 'Take many out of their suspensions'),
  progress: post('progressExecution', `${one}/progress`, 'worker', 'Tell how far the holder is', holder),
  replay: post('replayExecution', `${one}/replay`, 'operate', 'Run what has ended once more'),
  replayMany: many('replayExecutions', '/v1/executions/replay', 'operate', 'Run many that have ended once more'),
  restart: post('restartExecution', `${one}/restart`, 'worker', 'Begin again with another input', { body: 'payload' }),
  warn: post('warnExecution', `${one}/warn`, 'worker', 'Note something in its history'),
  changePriority: put('changeExecutionPriority', `${one}/priority`, 'operate', 'Change its priority'),
  cancel: post('cancelExecution', `${one}/cancel`, ['operate', 'submit', 'worker'], 'Cancel it', holder),
  cancelMany: many('cancelExecutions', '/v1/executions/cancel', ['operate', 'submit', 'worker'], 'Cancel many', holder),
  describe: get('describeExecution', one, ['read', 'worker'], 'One execution', {
    args: ['executionId'],
    absent: 'execution_not_found',
  }),
  explain: get('explainExecution', `${one}/explain`, 'read', 'Why it is not running, in a sentence', {
    args: ['executionId'],
    absent: 'execution_not_found',
  }),
  result: get('getExecutionResult', `${one}/result`, ['read', 'submit', 'worker'], 'What it ended in', {
    args: byId,
    absent: 'execution_not_found',
    waits: 'wait',
    bytes: ['result'],
    plain: [{ at: '', bytes: 'result', encoding: 'encoding', as: 'output' }],
  }),
  input: get('getExecutionInput', `${one}/input`, ['read', 'worker'], 'What it was given', {
    args: ['executionId'],
    absent: 'execution_not_found',
    bytes: ['payload'],
    plain: [{ at: '', bytes: 'payload', encoding: 'encoding', as: 'input' }],
  }),
  list: get('listExecutions', '/v1/executions', 'read', 'Executions, page by page'),
  countByState: get('countExecutions', '/v1/executions/count', 'read', 'How many are in each state'),
  resolveFlowId: get('getExecutionFlow', `${one}/flow`, 'read', 'The flow that it belongs to', {
    args: ['executionId'],
    wrap: 'flowId',
  }),
  getNamespace: get('getExecutionNamespace', `${one}/namespace`, 'read', 'The namespace that it is in', {
    args: ['executionId'],
    wrap: 'namespace',
  }),
  setTag: put('setExecutionTag', `${one}/tags/{key}`, ['operate', 'submit', 'worker'], 'Set a tag', {
    args: ['executionId', 'key', 'value'],
  }),
  getTag: get('getExecutionTag', `${one}/tags/{key}`, 'read', 'The value of a tag', {
    args: ['executionId', 'key'],
    wrap: 'value',
  }),
} as const
