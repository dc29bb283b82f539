// Every operation of the engine, by noun and verb, as an HTTP route: the server binds them, the client calls them.
import type { Route } from './route.ts'
import { executionRoutes } from './route/execution.ts'
import { flowRoutes } from './route/flow.ts'
import {
  attemptRoutes,
  leaseRoutes,
  signalRoutes,
  stepRoutes,
  suspensionRoutes,
  waitpointRoutes,
} from './route/of-execution.ts'
import {
  apiKeyRoutes,
  eventRoutes,
  laneRoutes,
  scheduleRoutes,
  serverTimeRoute,
  signingKeyRoutes,
  workerRoutes,
} from './route/of-server.ts'

export const routes = {
  executions: executionRoutes,
  flows: flowRoutes,
  leases: leaseRoutes,
  attempts: attemptRoutes,
  steps: stepRoutes,
  suspensions: suspensionRoutes,
  waitpoints: waitpointRoutes,
  signals: signalRoutes,
  signingKeys: signingKeyRoutes,
  events: eventRoutes,
  lanes: laneRoutes,
  workers: workerRoutes,
  schedules: scheduleRoutes,
  apiKeys: apiKeyRoutes,
  serverTime: serverTimeRoute,
} as const

export interface Operation {
  /** Null for an operation without a noun. */
  readonly noun: string | null
  readonly verb: string
  readonly route: Route
}

export const operations: readonly Operation[] = Object.entries(routes).flatMap(([noun, verbs]): Operation[] => {
  if (isRoute(verbs)) return [{ noun: null, verb: noun, route: verbs }]
  return Object.entries(verbs).map(([verb, route]: [string, Route]) => ({ noun, verb, route }))
})

function isRoute(value: Route | Readonly<Record<string, Route>>): value is Route {
  return typeof value['operationId'] === 'string'
}
