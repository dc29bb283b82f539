// Operations that are sent directly, without a merger. Their effects are published when they resolve, and their errors are
// EngineErrors.
import { onlyEvents, type Publish, type Written } from './kernel/effects.ts'
import { orEngineError } from './kernel/failure.ts'

export function directOperations(publish: Publish) {
  return {
    /** A write that returns its effects. */
    written:
      <Args extends readonly unknown[], Answer>(write: (...args: Args) => Promise<Written<Answer>>) =>
      async (...args: Args): Promise<Answer> => {
        const { answer, effects } = await orEngineError(write(...args))
        publish(effects)
        return answer
      },
    /** A write whose only effect is events in the log. */
    logged:
      <Args extends readonly unknown[], Answer>(write: (...args: Args) => Promise<Answer>) =>
      async (...args: Args): Promise<Answer> => {
        const answer = await orEngineError(write(...args))
        publish(onlyEvents)
        return answer
      },
  }
}

export type DirectOperations = ReturnType<typeof directOperations>
