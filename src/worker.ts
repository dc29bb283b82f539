// `flowfabric/worker`: what a process needs that runs tasks and serves nobody. `flowfabric/client` has the same but for what is
// about a database.
export { connect, type ConnectOptions } from './connect/connect.ts'
export type { ServerOptions } from './connect/connect-server.ts'
export type { SigningOptions } from './connect/signing-options.ts'
export type { UserWithin as Within } from './connect/within.ts'
export type { TransactionClient } from './sql/borrowed-client.ts'
export * from './tasks.ts'
