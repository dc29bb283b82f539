// One operation on many executions: in sets, each with its own answer. A refusal holds up none of the others.
import type { Refused } from '../engine/contract.ts'
import { EngineError } from '../model/errors.ts'
import { idsOf } from './arguments.ts'
import type { Cli } from './cli.ts'
import { exitCodeOf, failed } from './failure.ts'
import { harmless } from './text.ts'

export interface Acting<Answer extends { readonly kind: string }> {
  /** `cancelling`: stands before the bar. */
  readonly doing: string
  readonly act: (ids: readonly string[]) => Promise<readonly (Answer | Refused)[]>
  /** What became of one. */
  readonly say: (answer: Answer) => string
}

const setSize = 200

export async function eachOf<Answer extends { readonly kind: string }>(
  cli: Cli,
  typed: readonly string[],
  { doing, act, say }: Acting<Answer>,
): Promise<number> {
  const ids = await idsOf(typed, cli.surroundings)
  const bar = cli.progress(doing, ids.length)
  const answers: { readonly id: string; readonly answer: Answer | Refused }[] = []
  try {
    for (let at = 0; at < ids.length; at += setSize) {
      const some = ids.slice(at, at + setSize)
      const given = await act(some)
      answers.push(...some.map((id, index) => ({ id, answer: given[index]! })))
      bar.step(some.length)
    }
  } finally {
    bar.end()
  }
  for (const { id, answer } of answers) tell(cli, id, answer, say)
  const refusals = answers.flatMap(({ answer }) => (isRefused(answer) ? [answer.error] : []))
  if (refusals.length === 0) return 0
  return ids.length === 1 ? exitCodeOf(refusals[0]) : failed
}

function tell<Answer extends { readonly kind: string }>(
  cli: Cli,
  id: string,
  answer: Answer | Refused,
  say: (answer: Answer) => string,
): void {
  const { colours } = cli.out
  if (cli.json) {
    const { error } = answer as Partial<Refused>
    const shown = EngineError.is(error) ? { kind: 'refused', executionId: id, error: error.toJSON() } : answer
    return cli.out.line(JSON.stringify(shown))
  }
  if (isRefused(answer)) cli.err.line(`${cli.err.colours.red('refused:')} ${harmless(answer.error.message)}`)
  else cli.out.line(`${harmless(id)}${cli.out.isTerminal ? '  ' : '\t'}${colours.dim(say(answer))}`)
}

function isRefused(answer: { readonly kind: string }): answer is Refused {
  return answer.kind === 'refused'
}
