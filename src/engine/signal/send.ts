// Send: a signal to an execution by name, by whoever has the right to act in its namespace.
import type { ExecutionId } from '../../model/id.ts'
import type { SignalContent } from './deliver.ts'

export interface SendRequest extends SignalContent {
  readonly executionId: ExecutionId
  readonly sourceType?: string
  readonly sourceIdentity?: string
}
