// The parts of an explanation that name the missing process: a worker to run the execution, or a supervisor to run duties.
import type { ExplainedExecution, ExplainFacts, WorkerCounts } from './explain-facts.ts'

/** How many workers can run it. If none can, what they lack, and who can change that. */
export function workersText(
  execution: ExplainedExecution,
  counts: WorkerCounts,
  aheadCount: number,
): { readonly text: string; readonly way: string } {
  const { lane, kind, version, requiredCapabilities } = execution
  const wanted = requiredCapabilities.join(', ')
  const start = (what: string): string => `a new worker that serves ${what}`
  if (counts.lane === 0) {
    return { text: `no registered worker serves lane '${lane}'`, way: start(`lane '${lane}'`) }
  }
  const ofLane = `${workers(counts.lane, 'serves', 'serve')} lane '${lane}'`
  if (counts.kind === 0) return { text: `${ofLane}, but none serves kind '${kind}'`, way: start(`kind '${kind}'`) }
  if (counts.version === 0) {
    return { text: `${ofLane}, but none serves version '${version}' of '${kind}'`, way: start(`version '${version}'`) }
  }
  if (counts.able === 0) return { text: `${ofLane}, but none has ${wanted}`, way: `a worker with ${wanted}` }
  return {
    text: `${workers(counts.able, 'can run it', 'can run it')}${aheadText(aheadCount)}`,
    way: `a worker that serves lane '${lane}'`,
  }
}

function workers(count: number, one: string, many: string): string {
  return count === 1 ? `1 registered worker ${one}` : `${count} registered workers ${many}`
}

const mostAhead = 1000

function aheadText(count: number): string {
  if (count === 0) return ', and it is next in its queue'
  if (count === 1) return ', and 1 execution is ahead of it'
  return `, and ${count >= mostAhead ? `${mostAhead} or more` : count} executions are ahead of it`
}

// Every duty runs at least once a minute.
const silentMs = 120_000

/** A duty is due and has not run yet. It runs within seconds, if a process runs the duties at all. */
export function overdueText({ now, supervisedAt }: ExplainFacts): string {
  if (supervisedAt !== null && now - supervisedAt < silentMs)
    return 'That time has passed; the background duty will run within seconds.'
  const since = supervisedAt === null ? '' : ` since ${new Date(supervisedAt).toISOString()}`
  return `That time has passed, but no process has run the background duties${since}: start a worker or a server.`
}
