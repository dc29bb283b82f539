// `flowfabric/client`: FlowFabric on a server, for a process that never opens a database; it writes, submits and runs tasks all the
// same.
export { connectServer as connect, type ServerOptions } from './connect/connect-server.ts'
export * from './tasks.ts'
