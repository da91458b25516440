import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TrustedProxies } from '../http/head/client-address.ts'
import { readIdempotencyKey } from '../http/head/read-idempotency-key.ts'
import { grantAccess } from './access.ts'
import { kindOf } from './audit-log/to-audit-entry.ts'
import { IdempotentCreates } from './idempotency/idempotent-creates.ts'
import { routeNotFound } from './operation/answer-fault.ts'
import { type Caller, toCaller } from './operation/caller.ts'
import type { AnswerMemory } from './operation/control-answers.ts'
import { type CsvList, prefersCsv, sendCsv, sendCsvFile } from './operation/csv.ts'
import { ErrorBody } from './operation/error-body.ts'
import type { GrantedAccess } from './operation/granted-access.ts'
import { type Answer, isCreating, type Operation, type Services } from './operation/operation.ts'
import { toTag } from './operation/preconditions.ts'
import { sendRows } from './operation/send-rows.ts'
import { z } from './operation/zod.ts'
import { completeAnswer, loadCsvPage, runOperation } from './run-operation.ts'

const emptyBody = z.strictObject({}).optional()

/**
 * Registers the operations as routes. The access check runs before the body is read, the schemas before the handler, and
 * `afterWrite` before the response to a write: its change is in force once the caller has the response.
 */
export function registerOperations(
  app: FastifyInstance,
  operations: readonly Operation[],
  services: Services,
  trustedProxies: TrustedProxies,
  afterWrite: () => Promise<void>,
): void {
  const creates = new IdempotentCreates(services)
  const admissions = new WeakMap<FastifyRequest, GrantedAccess & { readonly caller: Caller }>()
  for (const operation of operations) {
    app.route({
      ...toRoute(operation),
      onRequest: async (request, reply) => {
        reply.header('Cache-Control', 'no-store')
        const params = request.params as Record<string, string>
        // The router accepts an empty parameter, but `/v1/orgs/` is not the path of an organization.
        if (Object.values(params).includes('')) throw routeNotFound()
        const caller = toCaller(request, trustedProxies)
        const granted = await grantAccess(services, operation, caller, params)
        admissions.set(request, { caller, ...granted })
        services.answers.find(request)?.name(granted)
        // Without a body any content type is accepted, also one that Fastify would reject as malformed. `curl -X POST -d ''`
        // sends that of a form.
        const { 'content-length': length } = request.raw.headers
        if (operation.body === undefined || length === '0') delete request.raw.headers['content-type']
      },
      handler: async (request, reply) => {
        const { caller, ...granted } = admissions.get(request) as GrantedAccess & {
          readonly caller: Caller
        }
        let isReplayed = false
        const answer: Answer = {
          setCookie: (name, value, options) => void reply.setCookie(name, value, options),
          setReplayed() {
            isReplayed = true
            reply.header('Idempotent-Replayed', 'true')
          },
        }
        const key = isCreating(operation) ? readIdempotencyKey(request.raw) : undefined
        const idempotency = key === undefined ? undefined : { creates, key }
        const { id, params, query, body } = request
        const input = { params, query, body, caller, answer, ifMatch: request.headers['if-match'] }
        const { csvRow, csvFile } = operation
        const asCsv = prefersCsv(request.headers.accept)
        if (csvFile !== undefined && asCsv) {
          return await sendCsvFile(reply, operation.name, {
            shape: csvFile,
            load: after => loadCsvPage(services, csvFile, granted, input, after),
            memory: services.answers.find(request) as AnswerMemory,
            orgId: granted.orgId,
          })
        }
        const written = await runOperation(services, operation, granted, input, id, idempotency)
        if (operation.method !== 'GET') await afterWrite()
        const result = isReplayed
          ? written
          : await completeAnswer(services, operation, granted, input, written, request.log)
        const tag = kindOf(operation) === undefined ? undefined : tagOf(result)
        if (tag !== undefined) reply.header('ETag', tag)
        if (csvRow !== undefined) {
          const list = result as CsvList
          return asCsv
            ? await sendCsv(reply, operation.name, csvRow, list, granted.orgId)
            : await sendRows(reply, csvRow, list, granted.orgId)
        }
        return reply.code(operation.status).send(result)
      },
    })
  }
}

/** The entity tag of a record that an operation returns. */
function tagOf(result: unknown): string | undefined {
  const { updated_at } = (result ?? {}) as { readonly updated_at?: string }
  return updated_at === undefined ? undefined : toTag(updated_at)
}

/** Returns the route without its handler: enough for the OpenAPI document. */
export function toRoute(operation: Operation) {
  return {
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      bodyless: operation.body === undefined,
      hasOptionalBody: operation.body?.safeParse(undefined).success === true,
      creates: isCreating(operation),
      hasCsv: operation.csvRow !== undefined || operation.csvFile !== undefined,
      takesIfMatch: operation.method !== 'GET' && kindOf(operation) !== undefined,
      longBody: operation.body !== undefined && operation.access !== 'public',
    },
    schema: toRouteSchema(operation),
  }
}

function toRouteSchema(operation: Operation) {
  const faults = faultsOf(operation).map(code => `\`${code}\``)
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: `Faults: ${faults.join(', ')}.`,
    tags: [operation.name.split('.', 1)[0] as string],
    ...(operation.access === 'public' ? { security: [] } : {}),
    ...(operation.access === 'session' ? { security: [{ session: [] }] } : {}),
    ...(operation.paramNames.length === 0 ? {} : { params: operation.params }),
    querystring: operation.query,
    ...(operation.method === 'GET' ? {} : { body: operation.body ?? emptyBody }),
    response: { [operation.status]: operation.result, default: ErrorBody },
  }
}

/** Returns the codes that an operation may answer with: those of its access, path and body, and its own. */
function faultsOf(operation: Operation): readonly string[] {
  const { access } = operation
  const codes = new Set<string>()
  if (access !== 'public') for (const code of CREDENTIAL_FAULTS) codes.add(code)
  if (access !== 'public' && operation.method !== 'GET') codes.add('csrf_failed')
  if (access === 'session') codes.add('insufficient_role')
  if (typeof access === 'object' && access.of !== 'actor') {
    codes.add('resource_not_found')
    if (access.role !== 'viewer') codes.add('insufficient_role')
  }
  codes.add('request_validation_failed').add('invalid_request')
  if (operation.method !== 'GET') for (const code of BODY_FAULTS) codes.add(code)
  if (isCreating(operation)) codes.add('idempotency_conflict')
  if (operation.method !== 'GET') codes.add('resource_conflict')
  for (const code of operation.faults) codes.add(code)
  return [...codes]
}

const CREDENTIAL_FAULTS = [
  'unauthenticated',
  'invalid_key',
  'key_revoked',
  'key_expired',
  'control_rate_limit_exceeded',
]
const BODY_FAULTS = ['unsupported_media_type', 'request_too_large', 'request_timeout']
