import { expect, test } from 'vitest'
import { startChild, type Child } from '../support/child.ts'
import { setup } from '../support/setup.ts'
import { startBalancer } from './balancer.ts'
import { expectAllEnded, startLoad } from './load.ts'

interface Running {
  readonly child: Child
  readonly port: number
}

async function startServer(url: string): Promise<Running> {
  const child = startChild(new URL('./server.child.ts', import.meta.url), { args: [url] })
  const { port } = (await child.next()) as { port: number }
  return { child, port }
}

test('servers that are killed under load lose nothing: their workers continue with another server, and every answer was true', async () => {
  const { sql, url } = await setup()
  const balancer = await startBalancer()
  let [first, second] = await Promise.all([startServer(url), startServer(url)])
  balancer.ports.push(first.port, second.port)
  const loads = [startLoad(balancer.url, 'one'), startLoad(balancer.url, 'two')]
  for (let kill = 1; kill <= 2; kill += 1) {
    await Promise.all(loads.map((load) => load.completedMore(10)))
    await first.child.kill()
    // The balancer does not know yet: connections are refused in turn until the test removes the server.
    await Promise.all(loads.map((load) => load.completedMore(5)))
    first = second
    second = await startServer(url)
    balancer.ports.splice(0, 2, first.port, second.port)
  }
  await Promise.all(loads.map((load) => load.finish()))
  const all = await expectAllEnded(sql, loads)
  expect(all.size).toBe(loads.reduce((sum, load) => sum + load.created.size, 0))
})
