// The engine over HTTP: a plain function from request to response, to mount anywhere or to listen with (`serve.ts`).
import { setMaxListeners } from 'node:events'
import { cors } from 'hono/cors'
import type { Fields } from '../api/call.ts'
import { headers } from '../api/headers.ts'
import type { Route } from '../api/route.ts'
import { operations, type Operation } from '../api/routes.ts'
import { toWire } from '../api/wire.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../model/errors.ts'
import { loggerOf, type LoggerOption } from '../model/logger.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { BodyBudgets, type TakenBytes } from './body-budget.ts'
import { claimOrGiveBack } from './claim.ts'
import { addDoctor, type CheckedHealth } from './doctor.ts'
import { emptyStream, eventStream } from './event-stream.ts'
import { addApprovalPage, approvalPath, refusedPage } from './approval-page.ts'
import { FaultLog } from './fault-log.ts'
import { Gate, type Authenticate, type Opening } from './gate.ts'
import { addHealth } from './health.ts'
import type { Identity } from './identity.ts'
import { KeyWatch, type Watched } from './key-watch.ts'
import { KnownKeys } from './known-keys.ts'
import { answerOf, perform, readFields, waiting, type ExposeError } from './operation.ts'
import { addMetrics, Metrics } from './metrics.ts'
import { openApiResponse } from './openapi-response.ts'
import { checkOrigins, checkPublicUrl, refuseOtherHosts } from './origin.ts'
import { checkBasePath, honoPath, unknownRoute, wordPaths } from './paths.ts'
import { asRefusal, problemResponse } from './problem.ts'
import { PlainInput } from './plain-input.ts'
import { TrustedProxies } from './proxy.ts'
import { Remembered, type Answer } from './remembered.ts'
import { requestFactsOf, newRouter, type AppContext } from './router.ts'
import { addRootPage } from './root-page.ts'
import { sourceOf } from './source.ts'
import { RequestLimits, type ReadLimits } from './request-limits.ts'

export interface AppOptions {
  /** Looks a key up. Defaults to the engine's API keys. Null: requests need no key and may do everything. */
  readonly authenticate?: Authenticate | null
  /** Requests a second: of one key without a limit of its own, and of one address without a key. False: no limit. */
  readonly rateLimit?: { readonly perKey?: number; readonly perAddress?: number } | false
  /** The path at which it is mounted, if the mounting server does not remove it: `/api/flowfabric`. */
  readonly basePath?: string
  /** Origins whose pages may send requests and read responses; `*` is all of them. Left out: only its own. */
  readonly cors?: readonly string[]
  /** The host names that it accepts, without ports. Left out: any. */
  readonly hosts?: readonly string[]
  /** The public URL of the server: its pages may send requests, and links without a base point to it. */
  readonly publicUrl?: string
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted, for limits by address. Left out: none. */
  readonly trustProxy?: readonly string[]
  /** Concurrent reads of one key, and of one namespace; the others wait for their turn. False: no limit. */
  readonly readsAtOnce?: ReadLimits | false
  /**
   * Namespaces that accept inputs and signals only as bytes of a codec, such as one that encrypts, and refuse plain
   * JSON; `*` is every namespace. Left out: all accept both.
   */
  readonly refusePlainInput?: readonly string[]
  /** Left out: the console, for warnings and errors. `false`: nothing is logged. */
  readonly logger?: LoggerOption
  /**
   * `/metrics` needs a key of all namespaces with the right to read, unless this is `'open'`. False: the route does not
   * exist.
   */
  readonly metrics?: boolean | 'open'
  /** How often a silent stream sends a heartbeat; defaults to 15 s. */
  readonly heartbeatMs?: number
}

const optionNames = [
  'authenticate',
  'rateLimit',
  'basePath',
  'cors',
  'hosts',
  'publicUrl',
  'trustProxy',
  'readsAtOnce',
  'refusePlainInput',
  'logger',
  'metrics',
  'heartbeatMs',
] as const satisfies readonly (keyof AppOptions)[]

export interface App {
  readonly fetch: (request: Request, env?: unknown) => Response | Promise<Response>
  /**
   * `/readyz` reports that the server is about to stop, and connections are not kept alive; it still serves requests.
   */
  drain(): void
  /** Ends waits and streams, with a reason, and refuses new requests. */
  stop(): void
}

/**
 * The engine as a function from request to response.
 *
 * @example
 * const ff = await connect('memory:')
 * const app = createApp(ff.engine)
 * const answer = await app.fetch(new Request('http://localhost/livez'))
 */
export function createApp(engine: Engine, options: AppOptions = {}): App {
  refuseUnknownFields('createApp', options, optionNames)
  // A program that mounts the app without keys authenticates its callers itself, also behind a proxy.
  const opening = { isOpen: async () => options.authenticate === null, admitsProxied: true }
  return appWith(engine, options, new Metrics(engine), opening)
}

export function appWith(
  engine: Engine,
  options: AppOptions,
  metrics: Metrics,
  opening: Opening,
  health: CheckedHealth | null = null,
): App {
  const { heartbeatMs = 15_000 } = options
  const basePath = checkBasePath(options.basePath ?? '')
  const keys = new KnownKeys(engine)
  const publicUrl = options.publicUrl === undefined ? null : checkPublicUrl(options.publicUrl)
  const authenticate: Authenticate = options.authenticate ?? ((key) => keys.authenticate(key))
  const gate = new Gate(engine, authenticate, opening, options.rateLimit)
  const remembered = new Remembered()
  const bodies = new BodyBudgets()
  const work = new RequestLimits(options.readsAtOnce)
  const plainInput = new PlainInput(options.refusePlainInput)
  const faults = new FaultLog(loggerOf(options.logger))
  const watching = new KeyWatch(heartbeatMs)
  const draining = new AbortController()
  const stopping = new AbortController()
  // Every stream and every wait adds a listener.
  setMaxListeners(0, stopping.signal)
  const app = newRouter(basePath, new TrustedProxies(options.trustProxy))

  app.use(async (context, next) => {
    const began = performance.now()
    await next()
    metrics.request(context.req.method, context.get('path') ?? 'unknown', context.res.status, performance.now() - began)
  })
  const origins = checkOrigins(options.cors ?? [])
  const ownOrigins = publicUrl === null ? origins : [...origins, publicUrl.origin]
  if (origins.length > 0) app.use(cors({ origin: origins.includes('*') ? '*' : [...origins], ...corsHeaders }))
  app.use(async (context, next) => {
    refuseOtherHosts(options.hosts ?? null, ownOrigins, context.req.raw.headers)
    await next()
  })
  app.use(async (context, next) => {
    await next()
    if (draining.signal.aborted) context.header('connection', 'close')
  })
  addHealth(app, engine, draining.signal)
  addRootPage(app, basePath)
  const admitToPage = async (context: AppContext): Promise<TakenBytes> => {
    const { identity } = await gate.admit(publicRoute, requestFactsOf(context))
    return bodies.open(identity, context.get('address'))
  }
  addApprovalPage(app, engine, admitToPage, publicUrl?.origin ?? null)
  if (options.metrics !== false) addMetrics(app, metrics, options.metrics === 'open' ? null : gate)
  if (health !== null) addDoctor(app, health, gate)
  app.get('/openapi.json', (context) => openApiResponse(context.req.header('if-none-match')))
  const add = (operation: Operation): void => {
    app.on(operation.route.method, honoPath(operation.route.path), (context) => answer(operation, context))
  }
  const isWord = ({ route }: Operation): boolean => wordPaths.includes(route.path)
  operations.filter(isWord).forEach(add)
  // Before the paths with ids: `GET /v1/executions/cancel` does not describe an execution named `cancel`.
  for (const path of wordPaths) app.all(path, (context) => refuse(context, unknownRoute(context.req, basePath)))
  operations.filter((operation) => !isWord(operation)).forEach(add)
  app.notFound((context) => refuse(context, unknownRoute(context.req, basePath)))
  app.onError((error, context) => refuse(context, error))

  async function answer(operation: Operation, context: AppContext): Promise<Response> {
    const { route } = operation
    context.set('path', route.path)
    const { engine, identity } = await gate.admit(route, requestFactsOf(context))
    stopping.signal.throwIfAborted()
    // A client reads the time first, and afterwards mints ids for its namespace.
    if (operation.noun === null) context.set('namespace', identity.namespace === '*' ? 'default' : identity.namespace)
    const taken = bodies.open(identity, context.get('address'))
    try {
      return await answerTo(operation, context, engine, identity, taken)
    } finally {
      taken.release()
    }
  }

  async function answerTo(
    operation: Operation,
    context: AppContext,
    engine: Engine,
    identity: Identity,
    taken: TakenBytes,
  ): Promise<Response> {
    const { route } = operation
    const fields = await readFields(operation, context, taken)
    plainInput.check(operation, namespaceOf(context, identity), fields)
    if (route.streams === 'only' || (route.streams === 'also' && wantsEvents(context))) {
      if (isHead(context)) return emptyStream()
      return stream(operation, context, engine, fields, identity)
    }
    if (route.waits !== undefined) {
      // It may wait for a minute, and no longer needs its body.
      taken.release()
      if (isHead(context)) return respond(await act(operation, context, engine, { ...fields, [route.waits]: 0 }))
      const endWork = await work.beginWait(identity)
      const watched = watch(context, identity)
      try {
        return respond(await waitFor(operation, context, engine, fields, watched.signal))
      } finally {
        watched.release()
        endWork()
      }
    }
    const endWork = await work.begin(route, identity, namespaceOf(context, identity), context.req.raw)
    try {
      return respond(await answerOnce(operation, context, engine, identity, fields))
    } finally {
      endWork()
    }
  }

  async function answerOnce(
    operation: Operation,
    context: AppContext,
    engine: Engine,
    identity: Identity,
    fields: Fields,
  ): Promise<Answer> {
    const { route } = operation
    const perform = (): Promise<Answer> => act(operation, context, engine, withBase(route, fields))
    const sentAs = context.req.header(headers.requestId)
    if (route.remembers === true && sentAs !== undefined) {
      const caller = [identity.keyId, context.req.header(headers.namespace), context.req.header(headers.actor)]
      return remembered.once([caller, sentAs, route.operationId, toWire(fields)], perform)
    }
    const given = await perform()
    if (route.operationId === 'revokeApiKey') {
      keys.forget()
      watching.end(fields['keyId'] as string)
    }
    return given
  }

  function act(operation: Operation, context: AppContext, engine: Engine, fields: Fields): Promise<Answer> {
    const hasPlain = context.req.header(headers.plain) !== 'omit'
    return perform(operation, engine, fields, metrics, exposingOnce(context), hasPlain)
  }

  async function stream(
    operation: Operation,
    context: AppContext,
    engine: Engine,
    fields: Fields,
    identity: Identity,
  ): Promise<Response> {
    const endWork = await work.beginWait(identity)
    try {
      const source = await sourceOf(operation, engine, fields, context.req.header('last-event-id'))
      const watched = watch(context, identity)
      const onEnd = (): void => {
        watched.release()
        endWork()
      }
      const refusalOf = (error: unknown): EngineError => reportFault(context, error)
      return eventStream(source, { until: [stopping.signal, watched.signal], onEnd, heartbeatMs, refusalOf })
    } catch (error) {
      endWork()
      throw error
    }
  }

  function watch(context: AppContext, identity: Identity): Watched {
    const facts = requestFactsOf(context)
    return watching.watch(identity, () => gate.admitsStill(identity, facts))
  }

  /** A wait whose key was revoked meanwhile is refused, and the executions that it claimed are released. */
  async function waitFor(
    operation: Operation,
    context: AppContext,
    engine: Engine,
    fields: Fields,
    revoked: AbortSignal,
  ): Promise<Answer> {
    const { route, verb } = operation
    const gone = AbortSignal.any([context.req.raw.signal, revoked])
    const asked = waiting(route, fields, AbortSignal.any([gone, stopping.signal]))
    const answer =
      verb === 'claim'
        ? answerOf(route, await claimOrGiveBack(engine, asked, gone), fields, exposingOnce(context))
        : await act(operation, context, engine, asked)
    revoked.throwIfAborted()
    return answer
  }

  /** A link points to the page of this server, unless it names another base. */
  function withBase({ operationId }: Route, fields: Fields): Fields {
    if (operationId !== 'linkWaitpoint' || fields['base'] !== undefined || publicUrl === null) return fields
    return { ...fields, base: `${publicUrl.href.replace(/\/$/, '')}${basePath}${approvalPath}` }
  }

  /** The items of a set that failed as a whole share one error, which is logged once. */
  function exposingOnce(context: AppContext): ExposeError {
    const known = new Map<EngineError, EngineError>()
    return (error) => {
      const refusal = known.get(error) ?? reportFault(context, error)
      known.set(error, refusal)
      return refusal
    }
  }

  function reportFault(context: AppContext, error: unknown): EngineError {
    const refusal = asRefusal(error, (fault) => faults.log(context, fault))
    if (refusal.status >= 500) metrics.fault(context.get('path') ?? 'unknown', refusal.code)
    return refusal
  }

  function refuse(context: AppContext, error: unknown): Response | Promise<Response> {
    const refusal = reportFault(context, error)
    if (context.req.path === `${basePath}${approvalPath}`) return refusedPage(context, refusal)
    return problemResponse(refusal, context.get('requestId'))
  }

  return {
    fetch: (request, env) => app.fetch(request, env as object),
    drain: () => draining.abort(),
    stop: () => {
      draining.abort()
      stopping.abort(serverStopping())
    },
  }
}

// The abort reason of waits and streams, so that a wait that throws it is refused correctly.
function serverStopping(): EngineError {
  return new EngineError('server_stopping', 'the server is about to stop; ask another')
}

/** The namespace that a request is bound to; null for all of them. */
function namespaceOf(context: AppContext, { namespace }: Identity): string | null {
  const bound = context.req.header(headers.namespace) ?? namespace
  return bound === '*' ? null : bound
}

const publicRoute = { operationId: 'approval', scopes: [] } as const

const corsHeaders = {
  allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
  allowHeaders: ['authorization', 'content-type', 'last-event-id', ...Object.values(headers)],
  exposeHeaders: [headers.requestId],
  maxAge: 600,
}

function respond({ status, text }: Answer): Response {
  if (status === 204) return new Response(null, { status })
  return new Response(text, { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } })
}

function isHead({ req }: AppContext): boolean {
  return req.raw.method === 'HEAD'
}

function wantsEvents({ req }: AppContext): boolean {
  return (req.header('accept') ?? '').includes('text/event-stream')
}
