// `flowfabric/worker`: for a process that runs tasks and serves no requests. `flowfabric/client` has the same exports,
// except those for a database.
export { connect, type ConnectOptions } from './connect/connect.ts'
export type { ServerOptions } from './connect/connect-server.ts'
export type { SigningOptions } from './connect/signing-options.ts'
export type { UserWithin as Within } from './connect/within.ts'
export type { TransactionClient } from './sql/borrowed-client.ts'
export * from './tasks.ts'
