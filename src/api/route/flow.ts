import { limits } from '../../model/limits.ts'
import { get, post, put } from '../route.ts'

const one = '/v1/flows/{flowId}'
const byId = ['flowId', 'request'] as const

export const flowRoutes = {
  create: post('createFlow', '/v1/flows', ['submit', 'worker'], 'A flow to grow', {
    created: 'created',
    remembers: true,
  }),
  submitGraph: post('submitFlowGraph', '/v1/flows/submit-graph', ['submit', 'worker'], 'A whole flow, or nothing', {
    created: 'submitted',
    body: 'batch',
    mostItems: limits.flowEdgeCount,
    remembers: true,
  }),
  addMember: post('addFlowMember', `${one}/members`, ['submit', 'worker'], 'Add a member', {
    created: 'added',
    body: 'payload',
    remembers: true,
  }),
  connect: post('connectFlowMembers', `${one}/edges`, ['submit', 'worker'], 'An edge between two members', {
    created: 'connected',
    remembers: true,
  }),
  seal: post('sealFlowMember', `${one}/seal`, ['submit', 'worker'], 'No more edges will lead to this member', {
    isRepeatable: true,
  }),
  close: post('closeFlow', `${one}/close`, ['submit', 'worker'], 'No more members and edges', { isRepeatable: true }),
  describe: get('describeFlow', one, ['read', 'worker'], 'One flow', { args: ['flowId'], absent: 'flow_not_found' }),
  list: get('listFlows', '/v1/flows', 'read', 'Flows, page by page'),
  graph: get('getFlowGraph', `${one}/graph`, 'read', 'Members, edges and groups', {
    args: byId,
    absent: 'flow_not_found',
  }),
  edges: get('listFlowEdges', `${one}/edges`, 'read', 'Edges, page by page', { args: byId }),
  describeEdge: get('describeFlowEdge', `${one}/edges/{edgeId}`, 'read', 'One edge', {
    args: ['flowId', 'edgeId'],
    absent: 'edge_not_found',
  }),
  upstreamResults: get(
    'listUpstreamResults',
    '/v1/executions/{executionId}/upstream-results',
    ['read', 'worker'],
    'How those before a member ended',
    { args: ['executionId', 'request'], bytes: ['results.*.result'] },
  ),
  eligibility: get(
    'getExecutionEligibility',
    '/v1/executions/{executionId}/eligibility',
    'read',
    'Whether it could be claimed now',
    { args: ['executionId'] },
  ),
  wait: get('waitForFlow', `${one}/wait`, ['read', 'submit', 'worker'], 'The flow, when it has ended', {
    args: byId,
    waits: 'timeout',
  }),
  timeline: get('getFlowTimeline', `${one}/timeline`, 'read', 'What happened to the flow itself', { args: byId }),
  setTag: put('setFlowTag', `${one}/tags/{key}`, ['operate', 'submit', 'worker'], 'Set a tag', {
    args: ['flowId', 'key', 'value'],
  }),
  getTag: get('getFlowTag', `${one}/tags/{key}`, 'read', 'The value of a tag', {
    args: ['flowId', 'key'],
    wrap: 'value',
  }),
  cancel: post('cancelFlow', `${one}/cancel`, ['operate', 'submit', 'worker'], 'Cancel it with its members', {
    isRepeatable: true,
  }),
} as const
