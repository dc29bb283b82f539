// A server as people run it: the engine over HTTP, and a supervisor beside it. It reports its port.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createEngine } from '../../src/engine/engine.ts'
import { Supervisor } from '../../src/engine/duties/supervisor.ts'
import { createApp } from '../../src/server/app.ts'
import { openPostgres } from '../../src/sql/postgres.ts'

const [url = ''] = process.argv.slice(2)
const sql = await openPostgres({ url, schema: 'flowfabric' })
const { fetch } = createApp(createEngine(sql), { authenticate: null })
new Supervisor(sql, { intervals: { 'delayed-promoter': 100, 'lease-expiry': 100 } }).start()
const listener = getRequestListener(fetch)
const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send!(server.address())
