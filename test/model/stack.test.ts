import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { firstUserFrame, stackOf, userFrames } from '../../src/model/stack.ts'

const own = fileURLToPath(new URL('../../src/worker/steps.ts', import.meta.url))

function stack(...frames: string[]): string {
  return ['Error: bank says no', ...frames.map((frame) => `    at ${frame}`)].join('\n')
}

test('frames of the user and of dependencies stay, in their order', () => {
  const text = stack(
    'charge (/app/node_modules/bank/index.js:3:9)',
    'pay (/app/src/pay.ts:10:5)',
    'file:///app/src/run.ts:1:1',
  )
  expect(userFrames(text)).toEqual([
    'at charge (/app/node_modules/bank/index.js:3:9)',
    'at pay (/app/src/pay.ts:10:5)',
    'at file:///app/src/run.ts:1:1',
  ])
})

test.each([
  ['an installed package', 'Steps.run (/app/node_modules/flowfabric/dist/worker/steps.js:1:2)'],
  ['a package as a URL', 'Steps.run (file:///app/node_modules/flowfabric/dist/worker/steps.js:1:2)'],
  [
    'a package that pnpm installed',
    'async run (/app/node_modules/.pnpm/flowfabric@0.1.0/node_modules/flowfabric/dist/a.js:1:2)',
  ],
  ['Windows', String.raw`Steps.run (C:\app\node_modules\flowfabric\dist\worker\steps.js:1:2)`],
  ['Windows, as a URL', 'file:///C:/app/node_modules/flowfabric/dist/worker/steps.js:1:2'],
  ['the sources of this copy', `Steps.run (${own}:1:2)`],
  ['the sources of this copy, as a URL', `Steps.run (file://${encodeURI(own)}:1:2)`],
  ['Node.js', 'process.processTicksAndRejections (node:internal/process/task_queues:95:5)'],
  ['Node.js, without a name', 'node:internal/main/run_main_module:28:49'],
  ['Deno', 'async ext:deno_web/timers.js:1:2'],
  ['built-in functions', 'new Promise (<anonymous>)'],
  ['built-in combinators', 'async Promise.all (index 0)'],
])('frames of %s are omitted', (_, frame) => {
  expect(userFrames(stack(frame, 'pay (/app/src/pay.ts:10:5)'))).toEqual(['at pay (/app/src/pay.ts:10:5)'])
})

test("a project of the user's with the same name keeps its frames", () => {
  const text = stack('pay (/home/me/flowfabric/src/pay.ts:1:1)', 'pay (/app/flowfabric/dist/pay.js:1:1)')
  expect(userFrames(text)).toHaveLength(2)
})

test('a frame of evaluated code stays', () => {
  expect(userFrames(stack('eval (eval at run (/app/a.js:1:1), <anonymous>:1:7)'))).toHaveLength(1)
})

test('lines of the message are no frames', () => {
  const message = 'the child said:\n    at home (/nowhere.ts:1:1)'
  const text = `Error: ${message}\n    at pay (/app/pay.ts:1:1)`
  expect(userFrames(text, message)).toEqual(['at pay (/app/pay.ts:1:1)'])
})

test("the first frame is one of the user's code, before those of dependencies", () => {
  const text = stack('charge (/app/node_modules/bank/index.js:3:9)', 'pay (/app/src/pay.ts:10:5)')
  expect(firstUserFrame(text)).toBe('at pay (/app/src/pay.ts:10:5)')
  expect(firstUserFrame(stack('charge (/app/node_modules/bank/index.js:3:9)'))).toContain('at charge')
  expect(firstUserFrame(undefined)).toBeUndefined()
  expect(firstUserFrame('no stack at all')).toBeUndefined()
})

test('a stack is put together from a head and frames', () => {
  expect(stackOf('Error: no', ['at pay (/app/pay.ts:1:1)'])).toBe('Error: no\n    at pay (/app/pay.ts:1:1)')
})
