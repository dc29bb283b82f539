// The lock of an embedded directory, between real processes.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lockDirectory } from '../../src/sql/lock.ts'
import { startChild, type Child } from '../support/child.ts'
import { patience } from '../support/patience.ts'

const CHILD = new URL('./lock.child.ts', import.meta.url)

/** An id that no process has, and no socket. */
const gone = { pid: 2 ** 22 + 1, socket: null }

const startIn = (directory: string): Child => startChild(CHILD, { args: [directory] })

test('a second process is refused, and the error names the holder of the directory and what to do', async () => {
  const directory = await newDirectory()
  const holder = startIn(directory)
  await holder.next()
  const refusal = await lockDirectory(directory).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ reason: 'directory_locked' })
  expect(String(refusal)).toContain(`process ${holder.pid}`)
  expect(String(refusal)).toContain('Stop that process')
})

test('once the holder serves, the refusal names its URL', async () => {
  const directory = await newDirectory()
  const holder = startIn(directory)
  await holder.next()
  holder.send({ url: 'http://127.0.0.1:4321' })
  await holder.next()
  const refusal = await lockDirectory(directory).catch((error: unknown) => error)
  expect(String(refusal)).toContain('Connect to http://127.0.0.1:4321 instead')
})

test('the same process is refused a second time, until it has released the lock', async () => {
  const directory = await newDirectory()
  const lock = await lockDirectory(directory)
  await expect(lockDirectory(directory)).rejects.toThrow('in use by this process')
  await lock.release()
  await (await lockDirectory(directory)).release()
  expect(await readdir(directory)).toEqual([])
})

test('the lock of a killed process is taken over', async () => {
  const directory = await newDirectory()
  const holder = startIn(directory)
  await holder.next()
  await holder.kill('SIGKILL')
  const lock = await lockDirectory(directory)
  expect(await readLock(directory)).toMatchObject({ pid: process.pid })
  await lock.release()
})

test.each([
  ['a pid that was given to another process since', { startTicks: '1' }],
  ['another boot of the machine', { boot: 'another' }],
  ['a pid that no process has', { pid: 2 ** 22 + 1 }],
  ['a process before us with our pid, where the system does not tell', { boot: null, since: '2020-01-01T00:00:00Z' }],
])('the lock of %s is taken over', async (_, change) => {
  const directory = await newDirectory()
  await lockDirectory(directory)
  await writeFile(
    join(directory, 'lock.json'),
    JSON.stringify({ ...(await readLock(directory)), socket: null, ...change, id: 'old' }),
  )
  const lock = await lockDirectory(directory)
  await lock.release()
})

test.each(['', '{', 'null', '{"pid":"x"}', '{"pid":-1,"since":"now"}'])(
  'a damaged lock %j is taken over',
  async (text) => {
    const directory = await newDirectory()
    await writeFile(join(directory, 'lock.json'), text)
    await (await lockDirectory(directory)).release()
  },
)

test('the lock of another host is never taken for dead', async () => {
  const directory = await newDirectory()
  await lockDirectory(directory)
  const foreign = { ...(await readLock(directory)), ...gone, hostname: 'elsewhere', id: 'foreign' }
  await writeFile(join(directory, 'lock.json'), JSON.stringify(foreign))
  const refusal = await lockDirectory(directory).catch((error: unknown) => error)
  expect(String(refusal)).toContain('on host elsewhere')
  expect(String(refusal)).toContain(`delete ${join(directory, 'lock.json')}`)
})

// As in containers: pid 1 here and pid 1 there.
const unshare = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
const canUnshare = spawnSync(unshare[0]!, [...unshare.slice(1), 'true']).status === 0

test.runIf(canUnshare)('the lock of a process in another namespace of pids is never taken for dead', async () => {
  const directory = await newDirectory()
  const holder = startChild(CHILD, { args: [directory], by: unshare })
  expect(await holder.next()).toEqual({ locked: 1 })
  const refusal = await lockDirectory(directory).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ reason: 'directory_locked' })
  expect(String(refusal)).toContain('process 1 in another container')
  expect(String(refusal)).toContain(`delete ${join(directory, 'lock.json')}`)
  const other = startChild(CHILD, { args: [directory], by: unshare })
  expect(await other.next()).toMatchObject({ refused: expect.stringContaining('process 1 in another container') })
})

test.runIf(canUnshare)(
  'the lock of a process in another namespace of pids is taken over once it is killed',
  async () => {
    const directory = await newDirectory()
    const holder = startChild(CHILD, { args: [directory], by: unshare })
    expect(await holder.next()).toEqual({ locked: 1 })
    await holder.kill('SIGKILL')
    await vi.waitFor(async () => (await lockDirectory(directory)).release(), { timeout: patience(10_000) })
    expect(await readdir(directory)).toEqual([])
  },
)

test('a directory whose path is too long for a socket is still locked', async () => {
  const directory = join(await newDirectory(), 'long'.repeat(30), 'long'.repeat(30))
  const lock = await lockDirectory(directory)
  await expect(lockDirectory(directory)).rejects.toThrow('in use by this process')
  await lock.release()
  expect(await readdir(directory)).toEqual([])
})

test.runIf(process.platform === 'linux').each([
  ['the same boot', {}, 'refused'],
  ['another boot', { boot: 'another' }, 'taken over'],
  ['an older version, which did not tell', { namespace: undefined }, 'taken over'],
])('a lock of another namespace, of %s', async (_, change, outcome) => {
  const directory = await newDirectory()
  await lockDirectory(directory)
  const foreign = { ...(await readLock(directory)), ...gone, namespace: 'pid:[1]', id: 'foreign', ...change }
  await writeFile(join(directory, 'lock.json'), JSON.stringify(foreign))
  const answer = await lockDirectory(directory).then(
    () => 'taken over',
    () => 'refused',
  )
  expect(answer).toBe(outcome)
})

test('a release removes only its own lock', async () => {
  const directory = await newDirectory()
  const lock = await lockDirectory(directory)
  const successor = { ...(await readLock(directory)), id: 'successor' }
  await writeFile(join(directory, 'lock.json'), JSON.stringify(successor))
  await lock.setUrl('http://late')
  await lock.release()
  expect(await readLock(directory)).toEqual(successor)
})

test('a claim that a dead process left behind is removed', async () => {
  const directory = await newDirectory()
  await lockDirectory(directory)
  const dead = { ...(await readLock(directory)), ...gone }
  await rm(join(directory, 'lock.json'))
  await writeFile(join(directory, 'lock.json.left-behind'), JSON.stringify(dead))
  await (await lockDirectory(directory)).release()
  expect(await readdir(directory)).not.toContain('lock.json.left-behind')
})

test('when many processes take over a dead lock at once, exactly one gets it', async () => {
  const directory = await newDirectory()
  const dead = startIn(directory)
  await dead.next()
  await dead.kill('SIGKILL')
  const children = Array.from({ length: 6 }, () => startIn(directory))
  const answers = await Promise.all(children.map((child) => child.next()))
  const holders = answers.filter((answer) => Object.hasOwn(answer as object, 'locked'))
  expect(holders).toHaveLength(1)
  expect(await readLock(directory)).toMatchObject({ pid: (holders[0] as { locked: number }).locked })
})

test('when one process tries many times at once, exactly one try gets the lock, again and again', async () => {
  const directory = await newDirectory()
  for (let round = 0; round < 20; round += 1) {
    await writeFile(join(directory, 'lock.json'), round % 2 === 0 ? 'damaged' : '')
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)))
    const won = tries.filter((attempt) => attempt.status === 'fulfilled')
    expect(won).toHaveLength(1)
    await won[0]!.value.release()
  }
})

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flowfabric-lock-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function readLock(directory: string): Promise<object> {
  return JSON.parse(await readFile(join(directory, 'lock.json'), 'utf8')) as object
}
