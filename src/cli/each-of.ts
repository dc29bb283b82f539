// Runs one operation on many executions: in sets, each with its own result. A refusal does not stop the others.
import type { Engine } from '../engine/contract.ts'
import type { Refused } from '../engine/kernel/each-in-place.ts'
import { EngineError } from '../model/errors.ts'
import { idsOf } from './arguments.ts'
import type { Cli } from './cli.ts'
import { exitCodeOf, failed } from './failure.ts'
import { bare, bareIds, executionOf } from './ids.ts'
import { harmless } from './text.ts'

export interface BatchAction<Answer extends { readonly kind: string }> {
  /** `cancelling`: the text before the progress bar. */
  readonly doing: string
  readonly act: (ids: readonly string[]) => Promise<readonly (Answer | Refused)[]>
  /** The line for one result. */
  readonly say: (answer: Answer) => string
}

const setSize = 200

export async function eachOf<Answer extends { readonly kind: string }>(
  cli: Cli,
  engine: Engine,
  typed: readonly string[],
  { doing, act, say }: BatchAction<Answer>,
): Promise<number> {
  const { ids, refused } = await complete(engine, await idsOf(typed, cli.host))
  const bar = cli.progress(doing, ids.length)
  const answers: { readonly id: string; readonly answer: Answer | Refused }[] = [...refused]
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
  for (const { id, answer } of answers) printResult(cli, id, answer, say)
  const refusals = answers.flatMap(({ answer }) => (isRefused(answer) ? [answer.error] : []))
  if (refusals.length === 0) return 0
  return answers.length === 1 ? exitCodeOf(refusals[0]) : failed
}

interface ResolvedIds {
  readonly ids: readonly string[]
  readonly refused: readonly { readonly id: string; readonly answer: Refused }[]
}

/** Resolves prefixes to ids. A prefix without an execution, or with several, is refused alone. */
async function complete(engine: Engine, typed: readonly string[]): Promise<ResolvedIds> {
  // One execution may be named by its id and by a prefix.
  const ids = new Map<string, string>()
  const refused: ResolvedIds['refused'][number][] = []
  for (const each of typed) {
    try {
      const id = await executionOf(engine, each)
      ids.set(bare(id), id)
    } catch (error) {
      if (!EngineError.is(error) || error.retryable) throw error
      refused.push({ id: each, answer: { kind: 'refused', error } })
    }
  }
  return { ids: [...ids.values()], refused }
}

function printResult<Answer extends { readonly kind: string }>(
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
  if (isRefused(answer)) cli.err.line(`${cli.err.colours.red('refused:')} ${refusalOf(answer)}`)
  else cli.out.line(`${harmless(bare(id))}${cli.out.isTerminal ? '  ' : '\t'}${colours.dim(say(answer))}`)
}

// The candidates of a prefix have lines of their own.
function refusalOf({ error }: Refused): string {
  const sentence = bareIds(error.message)
  return 'candidates' in error.details ? sentence.split('\n').map(harmless).join('\n') : harmless(sentence)
}

function isRefused(answer: { readonly kind: string }): answer is Refused {
  return answer.kind === 'refused'
}
