// Code whose run is over: nothing of it takes effect, and nothing that it left running ends the process.
import { expect, onTestFinished, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const fast = { interval: 10 }

/** A door that the test opens. */
function door(): { readonly passed: Promise<void>; open(): void } {
  let open!: () => void
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open: () => open() }
}

/** Long enough for all pending work to happen. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1))
}

function unheard(): unknown[] {
  const errors: unknown[] = []
  const hear = (error: unknown): void => void errors.push(error)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  return errors
}

test('a run that was cancelled while it computed does not start its first step', async () => {
  const { passed, open } = door()
  const charged: string[] = []
  let isComputing = false
  const compute = task('compute', async (ctx) => {
    isComputing = true
    await passed
    charged.push('reached')
    await ctx.step('charge', () => charged.push('charged'))
  })
  const { submit, worker } = await working([compute])
  const run = await submit(compute)
  await worker.start()
  await expect.poll(() => isComputing, fast).toBe(true)
  await run.cancel()
  await expect.poll(() => worker.running, fast).toBe(0)
  open()
  await turns()
  expect(charged).toEqual(['reached'])
})

test('code of a run that a stop gave back, and leftover code of a run that has ended, does nothing more', async () => {
  const { passed, open } = door()
  const done: string[] = []
  const begun: string[] = []
  const compute = task('compute', async (ctx) => {
    begun.push('compute')
    await passed
    done.push('reached')
    await ctx.step('charge', () => done.push('charged'))
  })
  const leaves = task('leaves', (ctx) => {
    const behind = async (): Promise<void> => {
      await passed
      done.push('reached behind')
      await ctx.step('behind', () => done.push('charged behind'))
    }
    void behind()
    begun.push('leaves')
  })
  const { submit, worker } = await working([compute, leaves])
  await submit(compute)
  const left = await submit(leaves)
  await worker.start()
  await expect.poll(() => begun.toSorted(), fast).toEqual(['compute', 'leaves'])
  await left.result()
  await worker.stop({ grace: 0 })
  open()
  await turns()
  expect(done.toSorted()).toEqual(['reached', 'reached behind'])
})

test('rejected branches that no code awaits do not end the process when the run is cancelled', async () => {
  const errors = unheard()
  const { passed, open } = door()
  let steps = 0
  let caught = 0
  const branches = task('branches', async (ctx) => {
    const branch = async (number: number): Promise<void> => {
      await ctx.step(`${number}`, async () => {
        steps += 1
        await passed
      })
      await ctx.sleep(`${number} rests`, '1h')
    }
    const plain = async (): Promise<void> => {
      await passed
      void ctx.progress(50)
      void ctx.now()
      void ctx.waitpoint('answer')
      void ctx.spawn(branches)
    }
    void plain()
    const [a, b] = [branch(1), branch(2)]
    try {
      await a
      await b
    } catch {
      caught += 1
    }
  })
  const { submit, worker } = await working([branches])
  const run = await submit(branches)
  await worker.start()
  await expect.poll(() => steps, fast).toBe(2)
  await run.cancel()
  await expect.poll(() => worker.running, fast).toBe(0)
  open()
  await turns()
  expect(errors).toEqual([])
  // Dropped here, as by a wait.
  expect(caught).toBe(0)
})

test('calls that the engine refuses and no code awaits do not end the process', async () => {
  const errors = unheard()
  const careless = task('careless', async (ctx) => {
    void ctx.progress(200)
    void ctx.waitpoint('')
    void ctx.spawn({} as never)
    await ctx.step('wait', turns)
    return 'done'
  })
  const { submit, worker } = await working([careless])
  const run = await submit(careless)
  await worker.tick()
  expect(await run.result()).toBe('done')
  expect(errors).toEqual([])
})
