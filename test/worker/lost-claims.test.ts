import { expect, test } from 'vitest'
import { LostClaims } from '../../src/worker/lost-claims.ts'

/** Each search waits until it is ended; `acts` lists what happened, in order. */
function searching() {
  const acts: string[] = []
  const searches: { resolve(): void; reject(error: Error): void }[] = []
  const lost = new LostClaims(async () => {
    acts.push('search begins')
    await new Promise<void>((resolve, reject) => searches.push({ resolve, reject }))
    acts.push('search ends')
  })
  const claim = (name: string) =>
    lost.claim(async () => {
      acts.push(name)
      await settled()
      acts.push(`${name} answered`)
    })
  return { lost, acts, searches, claim }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a search waits for the answer to a claim that is sent in the same turn, and the next claim waits for the search', async () => {
  const { lost, acts, searches, claim } = searching()
  const first = claim('first')
  lost.suspect()
  const second = claim('second')
  await expect.poll(() => searches.length).toBe(1)
  searches[0]!.resolve()
  await Promise.all([first, second])
  expect(acts).toEqual(['first', 'first answered', 'search begins', 'search ends', 'second', 'second answered'])
})

test('a suspicion that arises during a search starts another search after it, before the next claim', async () => {
  const { lost, acts, searches, claim } = searching()
  lost.suspect()
  const claimed = claim('claim')
  await settled()
  lost.suspect()
  searches[0]!.resolve()
  await settled()
  searches[1]?.resolve()
  await claimed
  expect(acts).toEqual(['search begins', 'search ends', 'search begins', 'search ends', 'claim', 'claim answered'])
})

test('a failed search rejects the calls that wait to claim, and is repeated before the next claim', async () => {
  const { lost, acts, searches, claim } = searching()
  lost.suspect()
  const both = Promise.allSettled([claim('first'), claim('second')])
  await settled()
  searches[0]!.reject(new Error('away'))
  expect(await both).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  const third = claim('third')
  await settled()
  searches[1]!.resolve()
  await third
  expect(acts).toEqual(['search begins', 'search begins', 'search ends', 'third', 'third answered'])
})
