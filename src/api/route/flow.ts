import { limits } from '../../model/limits.ts'
import { get, post, put } from '../route.ts'

const one = '/v1/flows/{flowId}'
const byId = ['flowId', 'request'] as const

export const flowRoutes = {
  create: post('createFlow', '/v1/flows', ['submit', 'worker'], 'Create an empty flow', {
    created: 'created',
    remembers: true,
  }),
  submitGraph: post(
    'submitFlowGraph',
    '/v1/flows/submit-graph',
    ['submit', 'worker'],
    'Create a whole flow in one transaction',
    {
      created: 'submitted',
      body: 'batch',
      mostItems: limits.flowEdgeCount,
      remembers: true,
    },
  ),
  addMember: post('addFlowMember', `${one}/members`, ['submit', 'worker'], 'Add a member', {
    created: 'added',
    body: 'payload',
    remembers: true,
  }),
  connect: post('connectFlowMembers', `${one}/edges`, ['submit', 'worker'], 'Connect two members with an edge', {
    created: 'connected',
    remembers: true,
  }),
  seal: post('sealFlowMember', `${one}/seal`, ['submit', 'worker'], 'Seal the inbound edges of a member', {
    isRepeatable: true,
  }),
  close: post('closeFlow', `${one}/close`, ['submit', 'worker'], 'Close a flow to new members and edges', {
    isRepeatable: true,
  }),
  describe: get('describeFlow', one, ['read', 'worker'], 'Describe a flow', {
    args: ['flowId'],
    absent: 'flow_not_found',
  }),
  list: get('listFlows', '/v1/flows', 'read', 'List flows'),
  graph: get('getFlowGraph', `${one}/graph`, 'read', 'Read the members, edges and groups of a flow', {
    args: byId,
    absent: 'flow_not_found',
  }),
  edges: get('listFlowEdges', `${one}/edges`, 'read', 'List edges', { args: byId }),
  describeEdge: get('describeFlowEdge', `${one}/edges/{edgeId}`, 'read', 'Describe an edge', {
    args: ['flowId', 'edgeId'],
    absent: 'edge_not_found',
  }),
  upstreamResults: get(
    'listUpstreamResults',
    '/v1/executions/{executionId}/upstream-results',
    ['read', 'worker'],
    'Read the results of the upstream members',
    { args: ['executionId', 'request'], bytes: ['results.*.result'] },
  ),
  eligibility: get(
    'getExecutionEligibility',
    '/v1/executions/{executionId}/eligibility',
    'read',
    'Check whether a member can be claimed',
    { args: ['executionId'] },
  ),
  wait: get('waitForFlow', `${one}/wait`, ['read', 'submit', 'worker'], 'Wait until a flow has ended', {
    args: byId,
    waits: 'timeout',
  }),
  timeline: get('getFlowTimeline', `${one}/timeline`, 'read', 'List the events of a flow', { args: byId }),
  setTag: put('setFlowTag', `${one}/tags/{key}`, ['operate', 'submit', 'worker'], 'Set a tag', {
    args: ['flowId', 'key', 'value'],
  }),
  getTag: get('getFlowTag', `${one}/tags/{key}`, 'read', 'Read a tag', {
    args: ['flowId', 'key'],
    wrap: 'value',
  }),
  cancel: post('cancelFlow', `${one}/cancel`, ['operate', 'submit', 'worker'], 'Cancel a flow and its members', {
    isRepeatable: true,
  }),
} as const
