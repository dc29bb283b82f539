// Every kind of stored row by its noun: `stored.leases.count(sql)`.
export * from './tables/executions.ts'
export * from './tables/claims.ts'
export * from './tables/waits.ts'
export * from './tables/flows.ts'
export * from './tables/operation.ts'
export { present } from './table.ts'
