// The parts of an explanation that say who is missing: a worker for what waits, a supervisor for what is due.
import type { ExplainedExecution, ExplainFacts, WorkerCounts } from './explain-facts.ts'

/** Which workers could take it, and if none, what they lack; and who could change that. */
export function workersText(
  execution: ExplainedExecution,
  counts: WorkerCounts,
  aheadCount: number,
): { readonly text: string; readonly way: string } {
  const { lane, kind, version, requiredCapabilities } = execution
  const wanted = requiredCapabilities.join(', ')
  const start = (what: string): string => `whoever starts a worker that serves ${what}`
  if (counts.lane === 0) {
    return { text: `no registered worker serves lane '${lane}'`, way: start(`lane '${lane}'`) }
  }
  const ofLane = `${workers(counts.lane, 'serves', 'serve')} lane '${lane}'`
  if (counts.kind === 0) return { text: `${ofLane}, but none kind '${kind}'`, way: start(`kind '${kind}'`) }
  if (counts.version === 0) {
    return { text: `${ofLane}, but none version '${version}' of '${kind}'`, way: start(`version '${version}'`) }
  }
  if (counts.able === 0) return { text: `${ofLane}, but none has ${wanted}`, way: `a worker with ${wanted}` }
  return {
    text: `${workers(counts.able, 'could take it', 'could take it')}${aheadText(aheadCount)}`,
    way: `a worker that serves lane '${lane}'`,
  }
}

function workers(count: number, one: string, many: string): string {
  return count === 1 ? `1 registered worker ${one}` : `${count} registered workers ${many}`
}

const mostAhead = 1000

function aheadText(count: number): string {
  if (count === 0) return ', and it is next in its queue'
  return `, and ${count >= mostAhead ? `${mostAhead} or more` : count} stand before it`
}

// Every duty comes at least once a minute.
const silentMs = 120_000

/** What is due and has not happened yet: it does in a moment, unless nobody looks. */
export function overdueText({ now, supervisedAt }: ExplainFacts): string {
  if (supervisedAt !== null && now - supervisedAt < silentMs)
    return 'That is past, and whoever supervises acts in a moment.'
  const since = supervisedAt === null ? '' : ` since ${new Date(supervisedAt).toISOString()}`
  return `That is past, but nobody supervises this database${since}: run ff.supervise() in a process.`
}
