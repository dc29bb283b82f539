// Processes that are killed in the middle of a compensation: the next one continues there, and repeats none that is recorded.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../support/child.ts'
import { setup } from '../support/setup.ts'
import { patience } from '../support/patience.ts'

test(
  'a suspended run is cancelled, and its worker is killed in every compensation: each one undoes once, the last first',
  { timeout: patience(120_000) },
  async () => {
    const { engine, url } = await setup()
    const { executionId } = await engine.executions.create({ kind: 'saga' })
    const said: unknown[] = []
    // Reads messages until the last one, and kills the process unless it is meant to run to its end.
    const work = async (victim: string, last: string): Promise<void> => {
      const child = startChild(new URL('./saga.child.ts', import.meta.url), { args: [url, victim] })
      for (;;) {
        const word = await child.next()
        if (word !== 'works') said.push(word)
        if (word === last) break
      }
      if (victim !== 'none') await child.kill()
    }
    const first = startChild(new URL('./saga.child.ts', import.meta.url), { args: [url, 'none'] })
    const state = async (): Promise<string | undefined> => (await engine.executions.describe(executionId))?.publicState
    await expect.poll(state, { timeout: patience(60_000) }).toBe('suspended')
    await first.kill()
    expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancel_requested' })
    for (const victim of ['c', 'b', 'a']) await work(victim, `begins ${victim}`)
    await work('none', 'undoes a')
    await expect.poll(state, { timeout: patience(60_000) }).toBe('cancelled')
    expect(said).toEqual([
      // The first process dies in c, the second in b, the third in a.
      'begins c',
      'begins c',
      'undoes c',
      'begins b',
      'begins b',
      'undoes b',
      'begins a',
      'begins a',
      'undoes a',
    ])
    expect((await engine.executions.describe(executionId))?.compensation).toBe('finished')
  },
)

test(
  'when the saga of the examples is killed in the middle of its second compensation, a second start undoes the rest',
  { timeout: patience(120_000) },
  async () => {
    const { url } = await setup()
    const first = await saga(url, 'flight')
    expect(first).toEqual(['flight booked', 'hotel booked', 'cancelling hotel', 'hotel cancelled', 'cancelling flight'])
    const [undoing, undone, cause, error, ...steps] = await saga(url)
    expect([undoing, undone, cause]).toEqual(['cancelling flight', 'flight cancelled', 'no trip to Lisbon'])
    expect(error).toContain('no car is left in Lisbon')
    expect(steps.filter((line) => line.startsWith('compensation')).map((line) => line.split(/ {2,}/))).toEqual([
      ['compensation', 'cancel hotel', 'succeeded'],
      ['compensation', 'cancel flight', 'succeeded'],
    ])
  },
)

/** The output of the example until it ends, or until it is killed in the middle of cancelling the victim. */
async function saga(url: string, victim?: string): Promise<string[]> {
  const file = fileURLToPath(new URL('../../examples/saga.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...(victim === undefined ? [] : [victim])], {
    env: { ...process.env, FLOWFABRIC_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (line === `cancelling ${victim}`) child.kill('SIGKILL')
  }
  await ended
  return lines
}
