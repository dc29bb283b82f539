// Hooks around submits, runs and steps, for spans. Without telemetry nothing is called.
import type { Middleware } from './middleware.ts'

export interface Telemetry {
  /** Around a submit. The mark is stored with the execution, as a tag, and its runs receive it. */
  submit<T>(kinds: readonly string[], work: (mark: string | null) => Promise<T>): Promise<T>
  /** Around every handler, outside of all other middleware. */
  readonly run: Middleware
  /** Around every try of a step; returns the result of the work. */
  readonly step: AroundStep
}

export type AroundStep = <T>(name: string, tryCount: number, work: () => T) => T
