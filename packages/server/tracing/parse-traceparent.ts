/** The W3C's limit that every implementation keeps to. */
const MAX_TRACESTATE_CHARS = 512
/** A version other than `ff`, a trace id and a span id that are not all zeros, flags, and what later versions may add. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x20-\x7e]{0,200})?$/
const SAMPLED = 1

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

/** Parses the header of W3C Trace Context; undefined: it is not valid. Two headers are not valid either: Node joins them. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const match = header === undefined ? null : TRACEPARENT.exec(header)
  if (match === null) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = match
  // Version 00 has no more parts.
  if (version === '00' && more !== undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}

/** Returns the header if it is not longer than the limit of the W3C. OpenTelemetry leaves out members that are not valid. */
export function boundTracestate(header: string | undefined): string | undefined {
  return header === undefined || header.length > MAX_TRACESTATE_CHARS ? undefined : header
}
