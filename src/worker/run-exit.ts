// The calls by which code ends its run: `ctx.retryIn`, `ctx.cancel` and `ctx.restart`. The first call decides how the run ends, even if
// the code catches the error that the call throws.
import type { Duration } from '../model/duration.ts'
import type { Encoded } from '../model/codec.ts'
import { RunLeft } from './errors.ts'

type Exit<Input> =
  | { readonly kind: 'retry'; readonly delay: Duration; readonly reason: string }
  | { readonly kind: 'cancel'; readonly reason: string | undefined }
  | { readonly kind: 'restart'; readonly input: Input }

export type RequestedExit = Exit<unknown>

export type RunExit = Exit<Encoded | null>

const hows = { retry: 'retried', cancel: 'cancelled', restart: 'restarted' } as const

/** The error that ends the code. */
export function leftBy({ kind }: RequestedExit): RunLeft {
  return new RunLeft(hows[kind])
}
