// The ways in which code ends its run by a word: `ctx.retryIn`, `ctx.cancel`, `ctx.restart`. The word counts, whatever the code
// makes of what is thrown to get out of it.
import type { Duration } from '../model/duration.ts'
import type { Encoded } from '../model/codec.ts'

export type Departure =
  | { readonly kind: 'retry'; readonly delay: Duration; readonly reason: string }
  | { readonly kind: 'cancel'; readonly reason: string | undefined }
  | { readonly kind: 'restart'; readonly input: Encoded | null }
