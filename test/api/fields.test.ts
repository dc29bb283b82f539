// Every field of an operation's request is a field of its route: the compiler names a field that a shape lacks.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { apiKeyShapes } from '../../src/server/schema/api-key.ts'
import type { eventShapes } from '../../src/server/schema/event.ts'
import type { executionShapes } from '../../src/server/schema/execution.ts'
import type { flowShapes } from '../../src/server/schema/flow.ts'
import type { attemptShapes, leaseShapes, stepShapes, waitpointShapes } from '../../src/server/schema/of-execution.ts'
import type { laneShapes, scheduleShapes, signingKeyShapes, workerShapes } from '../../src/server/schema/of-server.ts'
import type { signalShapes } from '../../src/server/schema/signal.ts'
import type { suspensionShapes } from '../../src/server/schema/suspension.ts'

interface Shapes {
  readonly executions: typeof executionShapes
  readonly flows: typeof flowShapes
  readonly leases: typeof leaseShapes
  readonly attempts: typeof attemptShapes
  readonly steps: typeof stepShapes
  readonly suspensions: typeof suspensionShapes
  readonly waitpoints: typeof waitpointShapes
  readonly signals: typeof signalShapes
  readonly signingKeys: typeof signingKeyShapes
  readonly events: typeof eventShapes
  readonly lanes: typeof laneShapes
  readonly workers: typeof workerShapes
  readonly schedules: typeof scheduleShapes
  readonly apiKeys: typeof apiKeyShapes
}

type Nouns = keyof Shapes
type FieldsOf<S> = S extends { readonly request: { readonly shape: infer Shape } } ? keyof Shape : never

/** The request argument; that of a set is the same as that of a single call. */
type RequestOf<Args> = Args extends readonly (infer Arg)[]
  ? Arg extends string | readonly unknown[]
    ? never
    : Arg
  : never
type KeysOf<R> = R extends unknown ? keyof R : never

type Forgotten = {
  [Noun in Nouns]: {
    [Verb in keyof Engine[Noun] & keyof Shapes[Noun]]: Engine[Noun][Verb] extends (...args: infer Args) => unknown
      ? `${Noun}.${Verb & string}.${Exclude<KeysOf<NonNullable<RequestOf<Args>>>, FieldsOf<Shapes[Noun][Verb]> | 'signal'> & string}`
      : never
  }[keyof Engine[Noun] & keyof Shapes[Noun]]
}[Nouns]

test('no shape lacks a field of its request', () => {
  const none: [Forgotten] extends [never] ? true : Forgotten = true
  expect(none).toBe(true)
})
