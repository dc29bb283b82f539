// Many processes register the same and different tasks at once, while others submit them.
import { expect, test } from 'vitest'
import { staleAfterMs } from '../../src/engine/task/registry.ts'
import { setup } from '../support/setup.ts'
import { engines } from './second-engine.ts'
import * as stored from '../support/stored.ts'

const kinds = Array.from({ length: 20 }, (_, index) => `kind-${index}`)

function tasksOf(attempts: number) {
  return kinds.map((kind, index) => ({ kind, lane: 'mail', policy: { retry: { attempts: attempts + (index % 3) } } }))
}

test('registrations of the same tasks at once, in any order, wait for each other without a deadlock', async () => {
  const { url, sql } = await setup()
  const processes = await engines(url, 4)
  for (let round = 0; round < 10; round += 1) {
    const answers = processes.map((engine, index) => {
      const tasks = tasksOf(2 + ((round + index) % 2) * 3)
      const worker = { workerId: 'w', workerInstanceId: `w-${index}`, lanes: ['mail'] }
      return engine.workers.register({ ...worker, tasks: index % 2 === 0 ? tasks : tasks.toReversed() })
    })
    await Promise.all(answers)
  }
  expect(await stored.tasks.all(sql)).toHaveLength(kinds.length)
  const policies = await stored.policies.pick(sql, ['policy'])
  expect(policies).toHaveLength(6)
})

test('a create uses one registration or the other as a whole, and every process uses the newest after a second', async () => {
  const { url } = await setup()
  const [writer, ...readers] = await engines(url, 3)
  const worker = { workerId: 'w', workerInstanceId: 'w', lanes: ['a'] }
  const register = (attempts: number) =>
    writer!.workers.register({
      ...worker,
      tasks: [{ kind: 'mail', lane: `lane-${attempts}`, policy: { retry: { attempts } } }],
    })
  await register(2)
  const seen = new Set<string>()
  const create = async (engine: (typeof readers)[number]): Promise<string> => {
    const answer = await engine.executions.create({ kind: 'mail' })
    return answer.kind === 'created' ? `${answer.applied!.attempts} ${answer.applied!.lane}` : answer.kind
  }
  const over = new AbortController()
  const submitting = readers.map(async (engine) => {
    while (!over.signal.aborted) seen.add(await create(engine))
  })
  for (const attempts of [3, 4, 5]) await register(attempts)
  expect(await create(writer!)).toBe('5 lane-5')
  const newest = async () => Promise.all(readers.map(create))
  await expect.poll(newest, { interval: staleAfterMs / 4 }).toEqual(['5 lane-5', '5 lane-5'])
  over.abort()
  await Promise.all(submitting)
  expect(['2 lane-2', '3 lane-3', '4 lane-4', '5 lane-5']).toEqual(expect.arrayContaining([...seen]))
})
