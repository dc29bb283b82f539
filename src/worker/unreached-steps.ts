// Reports recorded steps that the code has returned without reaching: the code has probably changed since the run that recorded them.
import type { Step } from '../engine/step/step.ts'
import { nondeterminism, type History } from './history.ts'
import type { Holder } from './holder.ts'
import { cut } from './outcome.ts'
import { reportUnreached } from './report.ts'

const maxNamed = 20

/** A strict task fails. For other tasks a warning is written to the log and to the timeline of the execution. */
export async function warnOfUnreached(holder: Holder, history: History): Promise<void> {
  const { engine, fence, lease, logger } = holder
  const unreached = history.unreachedSettled
  if (unreached.length === 0) return
  const steps = unreached.map(({ name }) => name)
  const sentence = sentenceOf(unreached)
  if (history.isStrict) throw nondeterminism(sentence, { expected: steps })
  const reason = `${sentence}; give changed code a new version`
  const few = steps.slice(0, maxNamed)
  const warning = { ...fence, reason: cut(reason), details: { steps: few } }
  await holder.retryWhileLeased(() => engine.executions.warn(warning))
  reportUnreached(logger, lease, reason, few)
}

/** `recorded step "a" was not reached by the current code` */
function sentenceOf(steps: readonly Step[]): string {
  const few = steps.slice(0, maxNamed).map(({ kind, name }) => `${kind} ${JSON.stringify(name)}`)
  const more = steps.length > few.length ? ` and ${steps.length - few.length} more` : ''
  const verb = steps.length === 1 ? 'was' : 'were'
  return `recorded ${few.join(', ')}${more} ${verb} not reached by the current code`
}
