// Many submits in one call, and middleware around every run.
import { connect, EngineError, task, type Middleware } from 'flowfabric'

const resize = task('resize', { lane: 'images' }, (ctx, { width }: { width: number }) =>
  ctx.step('scale', () => `${width} pixels`),
)

const timed: Middleware = async (ctx, next) => {
  const startedAt = performance.now()
  try {
    return await next()
  } finally {
    console.log(`${ctx.kind} took ${Math.round(performance.now() - startedAt)} ms`)
  }
}

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
await ff.worker({ tasks: [resize], middleware: [timed] }).start()

const runs = await ff.submitMany(resize, [
  { input: { width: 100 } },
  { input: { width: 200 }, options: { tags: { 'Not a Tag': 'refused' } } },
  { input: { width: 400 }, options: { priority: 10 } },
])
for (const run of runs) console.log(EngineError.is(run) ? `refused: ${run.code}` : await run.result())
await ff.close()
