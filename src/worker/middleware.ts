// Code around every handler, the first outermost.
import type { Context } from './context.ts'

/**
 * Calls `next` once and returns its value. `next` rejects with the error of the handler, and with `RunLeft` when the run suspends or
 * loses its lease. An error that middleware does not catch reaches the middleware around it. Before and after `next`, middleware may
 * use `ctx` as a handler does. After `RunLeft`, promises of `ctx` never settle, and the worker does not wait for the middleware.
 */
export type Middleware = (ctx: Context, next: () => Promise<unknown>) => Promise<unknown>

export function through(
  layers: readonly Middleware[],
  ctx: Context,
  handler: () => Promise<unknown>,
): Promise<unknown> {
  const inwards = layers.reduceRight<() => Promise<unknown>>((next, layer) => async () => layer(ctx, next), handler)
  return inwards()
}
