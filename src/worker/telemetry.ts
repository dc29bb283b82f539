// What can be told of submits, runs and steps as they happen: spans, with whatever keeps them. Nothing is asked for where
// nobody listens.
import type { Middleware } from './middleware.ts'

export interface Telemetry {
  /** Around a submit. The mark goes with the execution, as a tag, and is given back to its runs. */
  submit<T>(kinds: readonly string[], work: (mark: string | null) => Promise<T>): Promise<T>
  /** Around every handler, outside of all other middleware. */
  readonly run: Middleware
  /** Around every try of a step; gives what the work gives. */
  readonly step: AroundStep
}

export type AroundStep = <T>(name: string, tryCount: number, work: () => T) => T
