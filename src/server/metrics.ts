// The metrics for Prometheus. Requests, renewals, signals and turns of the duties are counted in this server as they
// happen: sum these over all servers. Facts about the database are measured (`lane-metrics.ts`).
import { Counter, Histogram, Registry } from 'prom-client'
import type { Fields } from '../api/call.ts'
import type { Operation } from '../api/routes.ts'
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { DutyTurn } from '../engine/duties/duty-turn.ts'
import { EngineError } from '../model/errors.ts'
import type { Gate } from './gate.ts'
import { LaneMetrics } from './lane-metrics.ts'
import { requestFactsOf, type Router } from './router.ts'

const seconds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60]

interface AnswerFields {
  readonly kind?: string
  readonly effect?: string
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #lanes: LaneMetrics
  readonly #requests = this.#counter('ff_http_requests_total', 'Requests.', ['method', 'path', 'status'])
  readonly #requestSeconds = this.#histogram('ff_http_request_duration_seconds', 'How long requests took.', [
    'method',
    'path',
  ])
  readonly #turns = this.#counter('ff_scanner_cycle_total', 'Turns of background duties here.', ['scanner'])
  readonly #turnSeconds = this.#histogram('ff_scanner_cycle_duration_seconds', 'How long such turns took.', ['scanner'])
  readonly #processedRows = this.#counter('ff_scanner_processed_total', 'Rows that duties moved here.', ['scanner'])
  readonly #failedRows = this.#counter('ff_scanner_errors_total', 'Rows that duties could not move.', ['scanner'])
  readonly #grantSeconds = this.#histogram(
    'ff_claim_from_grant_duration_seconds',
    'How long it took to claim an execution by the grant for it.',
    ['lane'],
  )
  readonly #renewals = this.#counter('ff_lease_renewal_total', 'Leases that were to be renewed.', ['outcome'])
  readonly #retries = this.#counter('ff_attempt_retry_total', 'Failures after which another attempt follows.', [])
  readonly #signals = this.#counter('ff_signals_total', 'Signals, by what they did.', ['effect'])
  readonly #groups = this.#counter('ff_edge_group_policy_total', 'Rules given for what a member waits for.', ['policy'])
  readonly #errors = this.#counter('ff_backend_errors_total', 'Faults, by route and code.', ['op', 'kind'])

  constructor(engine: Engine) {
    this.#lanes = new LaneMetrics(engine, this.#registry)
  }

  readonly contentType = this.#registry.contentType

  request(method: string, path: string, status: number, ms: number): void {
    const known = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'].includes(method) ? method : 'OTHER'
    this.#requests.inc({ method: known, path, status: String(status) })
    this.#requestSeconds.observe({ method: known, path }, ms / 1000)
  }

  /** `op` is the path pattern of the route. */
  fault(path: string, code: string): void {
    this.#errors.inc({ op: path, kind: code })
  }

  turn({ duty, tookMs, processed, errors }: DutyTurn): void {
    this.#turns.inc({ scanner: duty })
    this.#turnSeconds.observe({ scanner: duty }, tookMs / 1000)
    this.#processedRows.inc({ scanner: duty }, processed)
    this.#failedRows.inc({ scanner: duty }, errors)
  }

  /** Counts the request and the result of an operation; for a set, each result. */
  answered({ noun, verb }: Operation, fields: Fields, answer: unknown, ms: number): void {
    const answers: readonly AnswerFields[] = Array.isArray(answer) ? answer : [answer ?? {}]
    for (const each of answers) this.#count(noun, each)
    if (verb === 'renew') {
      const { leases } = answer as { readonly leases: readonly AnswerFields[] }
      for (const { kind } of leases) this.#renewals.inc({ outcome: kind === 'lost' ? 'error' : 'ok' })
    }
    if (verb === 'claimById') this.#grantSeconds.observe({ lane: this.#lanes.known(answer as Claim) }, ms / 1000)
    if (noun === 'flows') for (const policy of policiesIn(fields)) this.#groups.inc({ policy })
  }

  #count(noun: string | null, { kind, effect }: AnswerFields): void {
    if (noun === 'executions' && kind === 'retry_scheduled') this.#retries.inc()
    if (noun === 'signals' && effect !== undefined) this.#signals.inc({ effect })
  }

  async text(): Promise<string> {
    await this.#lanes.refresh()
    return this.#registry.metrics()
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.#registry] })
  }
}

/** The policies of a graph with its inner flows, of a member, or of an edge. */
function policiesIn(fields: Fields): readonly string[] {
  const { policy, groups = [], members = [] } = fields as FlowRequestFields
  const own = [policy, ...groups.map((group) => group.policy)].flatMap((one) => one?.kind ?? [])
  return [...own, ...members.flatMap(({ flow }) => (flow === undefined ? [] : policiesIn(flow)))]
}

interface FlowRequestFields {
  readonly policy?: { readonly kind: string }
  readonly groups?: readonly { readonly policy: { readonly kind: string } }[]
  readonly members?: readonly { readonly flow?: Fields }[]
}

const metricsRoute = { operationId: 'metrics', scopes: ['read'] } as const

/** Without a gate, any caller may read them. */
export function addMetrics(app: Router, metrics: Metrics, gate: Gate | null): void {
  app.get('/metrics', async (context) => {
    context.set('path', '/metrics')
    if (gate !== null) {
      const { identity } = await gate.admit(metricsRoute, requestFactsOf(context))
      if (identity.namespace !== '*') {
        const sentence = `metrics are of all namespaces, and this key is of ${identity.namespace} alone; send a key of all of them`
        throw new EngineError('forbidden', sentence, { namespace: identity.namespace })
      }
    }
    return context.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
  })
}
