// Replaces your OpenTelemetry SDK: it prints the name of each span, and its trace.
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'

const printer = {
  onStart() {},
  onEnd: (span) => console.log(span.name, span.spanContext().traceId),
  forceFlush: async () => {},
  shutdown: async () => {},
}

export function printSpans() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [printer] }))
}
