import type { RequestTrace, Tracer } from '../../core/records/tracer.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Begins the trace of a request whose credential was accepted. A caller with a secret key may continue its own trace. Apps that hold a
 * client token or a publishable key are in the hands of end users, who could then choose what is sampled.
 */
export function beginTrace(
  { req, route, arrivedAt, startedAt }: RequestContext,
  { kind, keyId }: Caller,
  { id, orgId, projectId }: Environment,
  tracer: Tracer,
): RequestTrace {
  const isTrusted = kind === 'secret'
  return tracer.begin({
    method: req.method ?? '',
    route: route.path,
    arrivedAt,
    startedAt,
    orgId,
    projectId,
    environmentId: id,
    keyId,
    callerKind: kind,
    traceparent: isTrusted ? toText(req.headers.traceparent) : undefined,
    tracestate: isTrusted ? toText(req.headers.tracestate) : undefined,
  })
}

function toText(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
