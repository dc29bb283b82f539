// The checks of `flowfabric doctor`, over HTTP: an embedded directory is open in one process only, so that process has
// to run them.
import type { CheckHealthRequest, HealthReport } from '../engine/health/check.ts'
import type { Repair } from '../engine/health/repair.ts'
import { EngineError } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { Gate } from './gate.ts'
import { requestFactsOf, type AppContext, type Router } from './router.ts'

export interface CheckedHealth {
  check(request?: CheckHealthRequest): Promise<HealthReport>
  repair(): Promise<readonly Repair[]>
}

const route = { operationId: 'doctor', scopes: ['admin'] } as const

/** `GET /doctor?deep=true&timeout=5s` checks, `POST /doctor/repair` repairs. Both need an admin key of all namespaces. */
export function addDoctor(app: Router, health: CheckedHealth, gate: Gate): void {
  const admit = async (context: AppContext): Promise<void> => {
    const { identity } = await gate.admit(route, requestFactsOf(context))
    if (identity.namespace === '*') return
    const sentence = `doctor checks all namespaces, and this key is bound to ${identity.namespace}; send a key of all namespaces`
    throw new EngineError('forbidden', sentence, { namespace: identity.namespace })
  }
  app.get('/doctor', async (context) => {
    context.set('path', '/doctor')
    await admit(context)
    const query = context.req.query()
    refuseUnknownFields('doctor', query, ['deep', 'timeout'])
    const { deep, timeout } = query
    const report = await health.check({
      deep: deep === 'true',
      ...(timeout !== undefined && { timeout: timeout as NonNullable<CheckHealthRequest['timeout']> }),
    })
    return context.json(report)
  })
  app.post('/doctor/repair', async (context) => {
    context.set('path', '/doctor/repair')
    await admit(context)
    return context.json({ repairs: await health.repair() })
  })
}
