// Spans for OpenTelemetry. Only its API is used: the SDK that the process has set up exports them, and without an SDK
// no spans are made. An execution carries the trace as W3C `traceparent`, from the submit to its runs and on to its
// children.
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context as TraceContext,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { traceparentTag } from '../model/tag.ts'
import { codeVersion } from '../model/version.ts'
import type { Context } from '../worker/context.ts'
import { RunLeft } from '../worker/errors.ts'
import type { Telemetry } from '../worker/telemetry.ts'

export interface OpenTelemetryOptions {
  /** Defaults to the tracer `flowfabric` of the global provider. */
  readonly tracer?: Tracer
}

/**
 * Spans for submits, runs and steps.
 *
 * @example
 * const ff = await connect(url, { telemetry: openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const tracer = options.tracer ?? trace.getTracer('flowfabric', codeVersion)
  return {
    submit: (kinds, work) => {
      const attributes = { 'flowfabric.kinds': [...kinds] }
      return tracer.startActiveSpan(`submit ${kinds.join(', ')}`, { kind: SpanKind.PRODUCER, attributes }, (span) =>
        within(span, () => work(traceparentOf(span))),
      )
    },
    run: (ctx, next) => {
      const attributes = {
        'flowfabric.execution_id': ctx.executionId,
        'flowfabric.namespace': ctx.namespace,
        'flowfabric.lane': ctx.lane,
        'flowfabric.attempt_index': ctx.attemptIndex,
        'flowfabric.generation': ctx.generation,
      }
      const described = { kind: SpanKind.CONSUMER, attributes }
      return tracer.startActiveSpan(`run ${ctx.kind}`, described, contextOf(ctx), (span) => within(span, next))
    },
    step: (name, tryCount, work) => {
      const attributes = { 'flowfabric.step': name, 'flowfabric.try': tryCount }
      return tracer.startActiveSpan(`step ${name}`, { attributes }, (span) => within(span, work))
    },
  }
}

/** Ends the span when the work has ended, synchronously or later. */
function within<T>(span: Span, work: () => T): T {
  try {
    const given = work()
    if (given instanceof Promise) {
      given.then(
        () => span.end(),
        (error: unknown) => fail(span, error),
      )
    } else span.end()
    return given
  } catch (error) {
    fail(span, error)
    throw error
  }
}

// A run that suspends has not failed.
function fail(span: Span, error: unknown): void {
  if (error instanceof RunLeft) span.setAttribute('flowfabric.left', error.how)
  else {
    span.recordException(error instanceof Error ? error : String(error))
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
  }
  span.end()
}

function traceparentOf(span: Span): string | null {
  const spanContext = span.spanContext()
  if (!isSpanContextValid(spanContext)) return null
  const { traceId, spanId, traceFlags } = spanContext
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

const traceparentForm = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/

function contextOf(ctx: Context): TraceContext {
  const [, traceId, spanId, flags] = traceparentForm.exec(ctx.tags[traceparentTag] ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
