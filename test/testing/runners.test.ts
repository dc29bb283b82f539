// The kit under other runners. vitest runs the files beside this one.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('the kit works under node:test, which ends by itself', async () => {
  const file = fileURLToPath(new URL('node-test.child.ts', import.meta.url))
  const options = ['--import', 'tsx', '--test', '--test-reporter', 'tap']
  const { stdout } = await run(process.execPath, [...options, file], {
    env: { ...process.env, NODE_NO_WARNINGS: '1', NODE_TEST_CONTEXT: undefined },
  })
  expect(stdout).toContain('ok 1 - onboarding under node:test')
  expect(stdout).toContain('# fail 0')
})
