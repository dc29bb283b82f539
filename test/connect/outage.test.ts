// An outage logs two lines, whatever notices it: workers, duties, calls of the application, a server and its clients.
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { Outage } from '../../src/connect/outage.ts'
import { serve } from '../../src/server/serve.ts'
import type { Logger, LogLevel } from '../../src/model/logger.ts'
import { task } from '../../src/worker/task.ts'
import { emptyDatabase, open } from './empty-database.ts'
import { startOutageProxy } from './outage-proxy.ts'

function logged() {
  const lines: string[] = []
  const log = (level: LogLevel) => (message: string) => void lines.push(`${level} ${message}`)
  const details: string[] = []
  const debug = (message: string): void => void details.push(message)
  const logger: Logger = { debug, info: log('info'), warn: log('warn'), error: log('error') }
  return { logger, lines, details }
}

const noop = task('noop', () => 'done')
const another = task('another', { version: '2' }, () => 'done')
const options = { handleSignals: false } as const
const back = (what: string): unknown =>
  expect.stringMatching(new RegExp(`^warn ${what} back after \\d[\\d.]* (ms|s|min)$`))
const away = (what: string): unknown => expect.stringMatching(new RegExp(`^warn ${what} away: \\S.*[^.;]$`))

test('an outage of Postgres logs two lines for two workers, their duties and the calls of the application', async () => {
  const proxy = await startOutageProxy(await emptyDatabase())
  const { logger, lines, details } = logged()
  const ff = await open(proxy.url, { logger })
  const workers = [
    ff.worker({ tasks: [noop, another], leaseTtl: '1h', ...options }),
    ff.worker({ tasks: [noop], leaseTtl: '1h', ...options }),
  ]
  for (const worker of workers) await worker.start()
  ff.supervise({ filter: { namespace: 'other' } })
  expect(await (await ff.submit(noop)).result()).toBe('done')
  for (const count of [2, 4]) {
    await proxy.takeAway()
    const failing = async (): Promise<string> =>
      ff.engine.lanes.list().then(
        () => 'answered',
        () => 'failed',
      )
    await expect.poll(failing).toBe('failed')
    await expect.poll(() => lines.length).toBe(count - 1)
    // Workers and duties notice it too, again and again.
    const noticed = details.length
    const since = (words: string): number => details.slice(noticed).filter((line) => line.includes(words)).length
    await expect.poll(() => since('the worker cannot claim work')).toBeGreaterThan(3)
    await expect.poll(() => since('background duties cannot run')).toBeGreaterThan(2)
    proxy.giveBack()
    await expect.poll(() => lines.length).toBe(count)
    const submitted = async (): Promise<unknown> => (await ff.submit(noop)).result()
    await expect.poll(() => submitted().catch(() => 'away')).toBe('done')
  }
  for (const worker of workers) await worker.stop()
  expect(lines).toEqual([away('database'), back('database'), away('database'), back('database')])
})

test('an outage of the server logs two lines for its workers', async () => {
  const database = await open(await emptyDatabase(), { logger: false })
  const proxied = await serve({ ff: database, port: 0, logger: false })
  onTestFinished(() => proxied.stop(0).then(() => {}))
  const proxy = await startOutageProxy(proxied.url)
  const { logger, lines } = logged()
  const ff = await connect(proxy.url.replace(/\/$/, ''), { logger })
  onTestFinished(() => ff.close())
  const workers = [1, 2].map(() => ff.worker({ tasks: [noop, another], leaseTtl: '1h', ...options }))
  for (const worker of workers) await worker.start()
  expect(await (await ff.submit(noop)).result()).toBe('done')
  await proxy.takeAway()
  await expect.poll(() => lines).toEqual([away('server')])
  proxy.giveBack()
  await expect.poll(() => lines).toEqual([away('server'), back('server')])
  const submitted = async (): Promise<unknown> => (await ff.submit(noop)).result()
  await expect.poll(() => submitted().catch(() => 'away')).toBe('done')
  for (const worker of workers) await worker.stop()
  expect(lines).toHaveLength(2)
})

test('an outage of the database behind a server logs two lines there, and two at its clients', async () => {
  const proxy = await startOutageProxy(await emptyDatabase())
  const [there, here] = [logged(), logged()]
  const database = await open(proxy.url, { logger: there.logger })
  const server = await serve({ ff: database, port: 0, logger: there.logger })
  onTestFinished(() => server.stop(0).then(() => {}))
  const ff = await open(server.url, { logger: here.logger })
  const worker = ff.worker({ tasks: [noop], leaseTtl: '1h', ...options })
  await worker.start()
  expect(await (await ff.submit(noop)).result()).toBe('done')
  await proxy.takeAway()
  await expect.poll(() => [there.lines, here.lines]).toEqual([[away('database')], [away('database')]])
  proxy.giveBack()
  const both = [away('database'), back('database')]
  await expect.poll(() => [there.lines, here.lines]).toEqual([both, both])
  await worker.stop()
  expect([there.lines, here.lines]).toEqual([both, both])
})

test('a connection that is lost while others work logs no line, and neither does a late failure of the last outage', async () => {
  const { logger, lines } = logged()
  const outage = new Outage(logger)
  const sentAt = performance.now()
  outage.failed('database', 'Connection terminated. Try again', performance.now())
  outage.answered(performance.now())
  outage.failed('database', 'Connection terminated. Try again', sentAt)
  outage.answered(performance.now())
  outage.failed('database', 'connect ECONNREFUSED. Check host and port', performance.now() + 1)
  outage.answered(sentAt)
  await expect.poll(() => lines).toEqual(['warn database away: connect ECONNREFUSED'])
  outage.answered(performance.now() + 1)
  expect(lines).toEqual(['warn database away: connect ECONNREFUSED', back('database')])
})
