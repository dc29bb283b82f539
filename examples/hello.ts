import { connect, task } from 'flowfabric'

const hello = task('hello', (ctx) => ctx.step('greet', () => 'hello, world'))

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
await ff.worker({ tasks: [hello] }).start()
const run = await ff.submit(hello)
console.log(await run.result())
await ff.close()
