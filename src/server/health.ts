// For whoever starts, watches and routes to servers: whether the process lives, and whether it can work now.
import { within } from '../engine/closing.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../model/errors.ts'
import type { Router } from './router.ts'

const longestMs = 2000

export function addHealth(app: Router, engine: Engine, stopping: AbortSignal): void {
  app.get('/livez', (context) => context.json({ status: 'ok' }))
  // The same by the name that FlowFabric's other servers have for it, for whoever watches those too (HTTP-01).
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const status = stopping.aborted ? 'stopping' : await statusOf(engine)
    return context.json({ status }, status === 'ok' ? 200 : 503)
  })
}

async function statusOf(engine: Engine): Promise<'ok' | 'database_unreachable' | 'code_too_old'> {
  let status: Awaited<ReturnType<typeof statusOf>> = 'database_unreachable'
  const asked = engine.serverTime().then(
    () => (status = 'ok'),
    (error: unknown) => {
      if (EngineError.is(error, 'code_too_old')) status = error.code
    },
  )
  await within(longestMs, asked)
  return status
}
