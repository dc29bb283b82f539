// `flowfabric/opentelemetry`: spans, for applications that have `@opentelemetry/api` installed.
export { openTelemetry, type OpenTelemetryOptions } from './connect/open-telemetry.ts'
export type { Telemetry } from './worker/telemetry.ts'
