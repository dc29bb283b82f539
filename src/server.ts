// `flowfabric/server`: the engine over HTTP, to be mounted or to listen.
export { createApp, type App, type AppOptions } from './server/app.ts'
export type { Authenticate } from './server/gate.ts'
export type { Identity } from './server/identity.ts'
export { openApiDocument } from './server/openapi.ts'
export { serve, type RunningServer, type ServedFlowFabric, type ServeOptions } from './server/serve.ts'
