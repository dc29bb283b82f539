// Code around every handler, the first outermost.
import type { Context } from './context.ts'

/**
 * Calls `next` once and gives what it gives. `next` rejects with what the handler throws, and with `RunLeft` when the run leaves
 * without an ending; what was thrown goes on outwards unless it is caught. Before and after `next` it may use `ctx` as a handler
 * does; when the run has left, nothing more can be done through it: what is asked of it is never answered, and the worker does
 * not wait for what the middleware still does.
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
