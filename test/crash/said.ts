import type { ExecutionId } from '../../src/model/id.ts'

/** What a child tells of what the engine answered it. */
export type Said = { readonly created: ExecutionId } | { readonly completed: ExecutionId }
