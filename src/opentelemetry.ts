// `flowfabric/opentelemetry`: spans, for whoever has `@opentelemetry/api` installed.
export { openTelemetry, type OpenTelemetryOptions } from './connect/open-telemetry.ts'
export type { Telemetry } from './worker/telemetry.ts'
