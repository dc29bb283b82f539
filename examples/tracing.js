// Spans of submits, runs and steps. It uses the output of `npm run build`: `node examples/tracing.js`.
import { connect, task } from 'flowfabric'
import { openTelemetry } from 'flowfabric/opentelemetry'
import { printSpans } from './print-spans.js'

printSpans() // your SDK, set up before all else
const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric', { telemetry: openTelemetry() })

const hello = task('hello', (ctx) => ctx.step('greet', () => 'hello, world'))
await ff.worker({ tasks: [hello] }).start()
const run = await ff.submit(hello)
console.log(await run.result())
await ff.close()
