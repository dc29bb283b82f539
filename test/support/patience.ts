// How long a test waits before it counts as hung. Every bound of the tests is scaled here: a slow or busy machine takes longer for
// everything. A larger bound hides no fault, because no test asserts a duration.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { availableParallelism, loadavg } from 'node:os'

/** The result of `measureSlowness` at the start of the run; the configuration passes it to every worker. */
export const slownessVariable = 'TEST_SLOWNESS'

/** The bound on this machine for work that may take `ms` on an idle machine with two cores. */
export function patience(ms: number): number {
  return Math.round(ms * Number(process.env[slownessVariable] ?? 1))
}

// The time of the unit of work below, on an idle machine with two cores.
const idleMs = 40
const unitCount = 5
// A machine that is idle when the run begins may be busy later, hence the least factor. Above the largest, the
// machine is broken.
const leastSlowness = 2
const mostSlowness = 20

/**
 * How many times longer than on an idle machine a unit of work takes: the worst of five, within bounds. With more
 * processes than cores, a short unit may be luckier than a test; then the number of processes for each core counts.
 */
export async function measureSlowness(): Promise<number> {
  const times: number[] = []
  for (let unit = 0; unit < unitCount; unit += 1) {
    const startedAt = performance.now()
    compute()
    await exchange()
    times.push(performance.now() - startedAt)
  }
  const load = loadavg()[0]! / availableParallelism()
  return Math.min(Math.max(leastSlowness, load, ...times.map((ms) => ms / idleMs)), mostSlowness)
}

const block = Buffer.alloc(1 << 20)

function compute(): void {
  const hash = createHash('sha1')
  for (let turn = 0; turn < 30; turn += 1) hash.update(block)
  hash.digest()
}

/** Round trips over a socket, like those of a test to its database. */
async function exchange(): Promise<void> {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  for (let turn = 0; turn < 200; turn += 1) {
    socket.write('x')
    await once(socket, 'data')
  }
  socket.destroy()
  server.close()
  await once(server, 'close')
}
