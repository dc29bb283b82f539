// A worker that stops before its runs end logs one line that names them and says what happens to them.
import { expect, onTestFinished, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import type { Logger } from '../../src/model/logger.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { working } from './working.ts'

function gated() {
  const gates: (() => void)[] = []
  const gate = task('gate', async () => {
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  onTestFinished(() => gates.forEach((open) => open()))
  const warnings: [string, object | undefined][] = []
  const logger: Logger = {
    debug() {},
    info() {},
    error() {},
    warn: (line, fields) => void warnings.push([line, fields]),
  }
  return { gate, gates, warnings, logger }
}

test('a stopping worker names the runs that it abandons, five at most, and another worker continues them', async () => {
  const { gate, gates, warnings, logger } = gated()
  const { submit, worker, another } = await working([gate], { logger })
  const runs = []
  for (let each = 1; each <= 7; each += 1) runs.push(await submit(gate))
  await worker.start()
  await expect.poll(() => gates.length, { interval: 10 }).toBe(7)
  await worker.stop({ grace: 0 })
  const ids = runs.map(({ id }) => parseExecutionId(id).uuid)
  expect(warnings).toHaveLength(1)
  const [line, fields] = warnings[0]!
  expect(line).toMatch(
    /^the worker stopped with 7 runs unfinished: (gate \S+, ){5}\.\.\.\. They were released, and another worker continues them$/,
  )
  expect(fields).toEqual({ executionIds: expect.arrayContaining(ids), released: true })
  const next = another({})
  await next.start()
  await expect.poll(() => gates.length, { interval: 10 }).toBe(14)
  gates.forEach((open) => open())
  await Promise.all(runs.map((run) => run.result()))
})

test('runs that cannot be released continue when their leases expire', async () => {
  const { gate, gates, warnings, logger } = gated()
  const { submit, engine } = await working([gate])
  const releaseMany = () => Promise.reject(new EngineError('database_unreachable', 'gone'))
  const broken = { ...engine, executions: { ...engine.executions, releaseMany } }
  const worker = new Worker({ tasks: [gate], handleSignals: false, logger }, { engine: broken })
  await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, { interval: 10 }).toBe(1)
  await worker.stop({ grace: 0 })
  expect(warnings.map(([line]) => line)).toEqual([
    expect.stringMatching(
      /^the worker stopped with 1 run unfinished: gate \S+\. They could not be released \(gone\), and another worker continues them when their leases expire$/,
    ),
  ])
})

test('a stop that waits for its runs logs nothing', async () => {
  const { gate, gates, warnings, logger } = gated()
  const { submit, worker } = await working([gate], { logger })
  await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, { interval: 10 }).toBe(1)
  const stopped = worker.stop({ grace: '1m' })
  gates[0]!()
  await stopped
  expect(warnings).toEqual([])
})
