import { toEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault, toFault } from '../../core/fault.ts'
import { faultHeaders } from '../../http/answer/envelope.ts'
import { dropRest } from '../../http/body/drop-rest.ts'
import { hasUnreadBody } from '../../http/body/read-body.ts'
import { isTransactionConflict } from '../../storage/transaction-conflict.ts'
import { anotherCallWasFirst } from './concurrent-call.ts'

/**
 * Sends the error envelope for anything that was thrown. The details of anything but a Fault are logged only. Never
 * throws: Fastify would then answer by itself and expose the exception.
 */
export function answerFault(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: () => string,
): void {
  try {
    answer(thrown, request, reply, baseUrl)
  } catch (error) {
    request.log.error({ alarm: 'exception', err: error, requestId: request.id }, 'a fault was not answered')
    reply.hijack()
    reply.raw.destroy()
  }
}

function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply, baseUrl: () => string): void {
  const fault = toControlFault(thrown)
  const details = { err: fault.cause ?? fault, requestId: request.id }
  if (fault.status >= 500) request.log.error(details, 'call failed')
  else if (isTransactionConflict(fault.cause))
    request.log.warn(details, 'the database ended a call for another one')
  if (reply.raw.shouldKeepAlive) reply.removeHeader('connection')
  else reply.header('connection', 'close')
  reply
    .code(fault.status)
    .headers(faultHeaders(fault))
    .header('X-Request-Id', request.id)
    .type('application/json; charset=utf-8')
  const body = JSON.stringify(toEnvelope(fault, request.id, baseUrl()))
  if (fault.code === 'request_timeout') reply.header('connection', 'close').send(body)
  else if (hasUnreadBody(request.raw)) sendAfterUpload(request, reply, body)
  else reply.send(body)
}

/** Reads and drops the rest of a refused body first. Who sends slower than that takes loses the connection. */
function sendAfterUpload({ raw }: FastifyRequest, reply: FastifyReply, body: string): void {
  dropRest(raw, () => {
    if (hasUnreadBody(raw)) reply.header('connection', 'close')
    if (!reply.sent) reply.send(body)
  })
}

function toControlFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  if (isTransactionConflict(thrown)) return anotherCallWasFirst(thrown)
  switch ((thrown as { code?: unknown }).code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type', 'The Content-Type must be application/json.', {
        param: 'Content-Type',
      })
    case 'FST_ERR_BAD_URL':
      return new Fault('request_validation_failed', 'The path is not a valid URL path.')
    default:
      return toFault(thrown)
  }
}

export function routeNotFound(): Fault {
  return new Fault('route_not_found', 'There is no route for this method and path.')
}
