// The shapes of every operation: its request and its response. Separate from `routes.ts`, because the client needs
// none.
import type { routes } from '../api/routes.ts'
import { apiKeyShapes } from './schema/api-key.ts'
import { eventShapes } from './schema/event.ts'
import { executionShapes } from './schema/execution.ts'
import { flowShapes } from './schema/flow.ts'
import { attemptShapes, leaseShapes, stepShapes, waitpointShapes } from './schema/of-execution.ts'
import { laneShapes, scheduleShapes, serverTimeShapes, signingKeyShapes, workerShapes } from './schema/of-server.ts'
import { signalShapes } from './schema/signal.ts'
import { suspensionShapes } from './schema/suspension.ts'
import type { OperationShapes } from './schema/words.ts'

type Shapes = {
  readonly [Noun in keyof typeof routes]: (typeof routes)[Noun] extends { readonly operationId: string }
    ? OperationShapes
    : { readonly [Verb in keyof (typeof routes)[Noun]]: OperationShapes }
}

export const shapes: Shapes = {
  executions: executionShapes,
  flows: flowShapes,
  leases: leaseShapes,
  attempts: attemptShapes,
  steps: stepShapes,
  suspensions: suspensionShapes,
  waitpoints: waitpointShapes,
  signals: signalShapes,
  signingKeys: signingKeyShapes,
  events: eventShapes,
  lanes: laneShapes,
  workers: workerShapes,
  schedules: scheduleShapes,
  apiKeys: apiKeyShapes,
  serverTime: serverTimeShapes,
}

export function shapesOf(noun: string | null, verb: string): OperationShapes {
  const found = noun === null ? shapes : shapes[noun as 'executions']
  return (found as Readonly<Record<string, OperationShapes>>)[verb]!
}
