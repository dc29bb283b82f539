// A server, and a worker that connects over HTTP. Beyond loopback, use `connect('https://...', { token })` with an API
// key.
import { connect, task } from 'flowfabric'
import { serve } from 'flowfabric/server'

const hello = task('hello', (ctx, name: string) => ctx.step('greet', () => `hello, ${name}`))

const server = await serve({ url: process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric', port: 0 })

const ff = await connect(server.url) // from another machine: it opens no database and needs no password
await ff.worker({ tasks: [hello] }).start()
const run = await ff.submit(hello, 'ada')
console.log(await run.result())

await ff.close()
await server.stop()
