import type { ExecutionId } from '../../src/model/id.ts'

/** The messages in which a child reports the engine's answers. */
export type Said = { readonly created: ExecutionId } | { readonly completed: ExecutionId }
