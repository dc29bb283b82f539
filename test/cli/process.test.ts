import { expect, inject, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { build, ownDatabase } from './built.ts'
import { patience } from '../support/patience.ts'

const flowfabric = build()

test('a database is created, and executions submitted, listed and cancelled, each by a process of its own', async () => {
  const url = await ownDatabase()
  const made = await flowfabric.run(url, 'migrate')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain('is up to date')
  const id = (await flowfabric.run(url, 'submit', 'k', '{"a":1}')).stdout.trim()
  expect(id).toMatch(/^[\da-f-]{36}$/)
  const listed = await flowfabric.run(url, 'list', '--json')
  expect(listed.stderr).toBe('')
  expect(JSON.parse(listed.stdout)).toMatchObject({
    executions: [{ executionId: expect.stringContaining(id), kind: 'k' }],
  })
  expect(await flowfabric.run(url, 'cancel', id)).toMatchObject({ code: 0 })
  expect(await flowfabric.run(url, 'resume', id)).toMatchObject({ code: 1 })
  expect(await flowfabric.run(url, 'doctor', '--json')).toMatchObject({
    code: inject('backend') === 'postgres' ? 1 : 0,
  })
})

test('exit codes distinguish wrong usage from a failure', async () => {
  expect(await flowfabric.run('file:/no/such/place', 'list')).toMatchObject({ code: 1 })
  expect(await flowfabric.run('nonsense', 'list')).toMatchObject({ code: 2 })
  expect(await flowfabric.run('memory:', 'lst')).toMatchObject({ code: 2, stdout: '' })
  expect(await flowfabric.run('memory:', '--version')).toMatchObject({ code: 0, stderr: '' })
})

test.runIf(inject('backend') === 'postgres')(
  'watch ends cleanly on Ctrl-C',
  async () => {
    const { url } = await setup()
    const watching = flowfabric.start(url, 'watch', '--json')
    let event: unknown = null
    void watching.next().then((found) => (event = found))
    // It may begin to listen after the first of them.
    const submitAndCancel = async (): Promise<unknown> => {
      const id = (await flowfabric.run(url, 'submit', 'k')).stdout.trim()
      await flowfabric.run(url, 'cancel', id)
      return event
    }
    await expect.poll(submitAndCancel).toMatchObject({ kind: 'ended', outcome: 'cancelled' })
    expect(await watching.interrupt()).toMatchObject({ code: 0, stderr: '' })
  },
  patience(60_000),
)
