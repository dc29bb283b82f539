// `flowfabric/client`: FlowFabric on a server, for a process that never opens a database. It can write, submit and run
// tasks.
export { connectServer as connect, type ServerOptions } from './connect/connect-server.ts'
export * from './tasks.ts'
