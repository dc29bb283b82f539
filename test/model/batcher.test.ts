// The batches that form; `engine/kernel/merge.test.ts` has the same through the engine.
import { expect, test } from 'vitest'
import { Batcher, type Batching } from '../../src/model/batcher.ts'

interface Entry {
  readonly name: string
  readonly key?: string
  readonly row?: string
}

const bounds = { maxItems: 3, maxBytes: 100, maxInFlight: 2 }

/** Batches that are in flight until they are settled, by the names of their entries. */
function setup(batching: Partial<Batching<Entry>> = {}, bytes = 1) {
  const sent: string[][] = []
  const inFlight: (() => void)[] = []
  let idleCount = 0
  const batcher = new Batcher<Entry>(
    {
      bytesOf: () => bytes,
      send(batch) {
        sent.push(batch.map(({ name }) => name))
        return new Promise((resolve) => inFlight.push(resolve))
      },
      onIdle: () => idleCount++,
      ...batching,
    },
    bounds,
  )
  const add = (...names: string[]) => names.forEach((name) => batcher.add({ name }))
  const settle = async () => {
    inFlight.shift()!()
    await turn()
  }
  return { batcher, add, sent, settle, idleCount: () => idleCount }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('entries that are added at once share a batch, and those that arrive meanwhile form the next', async () => {
  const { add, sent, settle } = setup()
  add('a', 'b')
  await turn()
  add('c')
  await turn()
  add('d')
  expect(sent).toEqual([['a', 'b']])
  await settle()
  expect(sent).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test('only a full batch is sent beside another, and never a third', async () => {
  const { add, sent, settle } = setup()
  add('a')
  await turn()
  add('b', 'c')
  await turn()
  expect(sent).toEqual([['a']])
  add('d', 'e', 'f', 'g')
  await turn()
  expect(sent).toEqual([['a'], ['b', 'c', 'd']])
  await settle()
  expect(sent).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']])
})

test('a batch ends before the entry that would exceed its bytes, and a larger entry is alone', async () => {
  const { add, sent, settle } = setup({}, 60)
  add('a', 'b')
  await turn()
  await settle()
  expect(sent).toEqual([['a'], ['b']])
})

test('entries with one key follow one another, and delay no other', async () => {
  const { batcher, sent, settle } = setup({ keyOf: ({ key = '' }) => key })
  batcher.add({ name: 'a1', key: 'a' })
  batcher.add({ name: 'a2', key: 'a' })
  batcher.add({ name: 'b', key: 'b' })
  await turn()
  await settle()
  expect(sent).toEqual([['a1', 'b'], ['a2']])
})

test('a batch that is sent beside another ends before an entry that needs a row of the other', async () => {
  const { batcher, sent, settle } = setup({ rowOf: ({ row }) => row })
  batcher.add({ name: 'a', row: 'x' })
  await turn()
  for (const [name, row] of [
    ['b', 'y'],
    ['c', 'y'],
    ['d', 'y'],
    ['e', 'x'],
  ] as const)
    batcher.add({ name, row })
  await turn()
  expect(sent).toEqual([['a'], ['b', 'c', 'd']])
  await settle()
  await settle()
  expect(sent).toEqual([['a'], ['b', 'c', 'd'], ['e']])
})

test('it reports that it is idle once the last batch has settled', async () => {
  const { batcher, add, settle, idleCount } = setup()
  add('a')
  await turn()
  expect(batcher.isIdle).toBe(false)
  expect(idleCount()).toBe(0)
  await settle()
  expect(batcher.isIdle).toBe(true)
  expect(idleCount()).toBe(1)
})
