import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import { Fault } from '../../core/fault.ts'
import { isEndUserId, isReservedEndUserId } from '../../core/tenancy/end-users.ts'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import { isRepeatedHeader } from '../../http/head/is-repeated-header.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestDeps } from './request-deps.ts'

/** As Node spells its name, and as faults show it. */
const HEADER = 'x-rideau-end-user'
const SHOWN_HEADER = 'X-Rideau-End-User'

/** Throws `invalid_request` if a client token names an end user. A client token always acts for its own end user. */
export function assertNoNamedEndUser(ctx: RequestContext): void {
  if (ctx.caller?.kind !== 'client_token' || ctx.req.headers[HEADER] === undefined) return
  throw new Fault(
    'invalid_request',
    `${SHOWN_HEADER}: must not be sent with a client token, which acts for its own end user.`,
    { param: SHOWN_HEADER },
  )
}

/**
 * Sets the end user of a request after its body was read. A secret key names the end user in the header
 * `x-rideau-end-user` or in the body's field `end_user`; the field `user` of other formats is never an identity.
 * `named` is the body's `end_user`. Synchronous unless the end user must be loaded.
 */
export function nameEndUser(ctx: RequestContext, named: unknown, deps: RequestDeps): void | Promise<void> {
  if (ctx.caller?.kind === 'client_token') {
    if (named === undefined || named === null) return
    throw invalid('end_user', 'must not be sent with a client token, which acts for its own end user.')
  }
  const id = findName(ctx, named)
  if (id === undefined) return
  ctx.permit?.name(id)
  const { environment } = ctx
  if (environment === undefined) throw new Error('an end user was named before identification')
  deps.seenEndUsers.note(environment, id)
  if (!environment.policies.hasSpecialEndUsers) {
    ctx.endUser = { id, plan: null, isBlocked: false }
    return
  }
  const known = deps.snapshots.findEndUser(environment.id, id)
  if (known === undefined) return lookUp(ctx, environment, id, deps)
  ctx.endUser = known
  assertNotBlocked(ctx)
}

async function lookUp(
  ctx: RequestContext,
  environment: Environment,
  id: string,
  deps: RequestDeps,
): Promise<void> {
  ctx.endUser = await deps.snapshots.loadEndUser(environment, id)
  assertNotBlocked(ctx)
}

export function assertNotBlocked(ctx: RequestContext): void {
  if (ctx.endUser?.isBlocked !== true) return
  throw new Fault('end_user_blocked', 'This end user is blocked.')
}

function findName(ctx: RequestContext, given: unknown): string | undefined {
  const named = given === undefined || given === null ? undefined : parseEndUserId(given, 'end_user', invalid)
  const header = ctx.req.headers[HEADER]
  if (header === undefined) return named
  // The joined values would be a further end user, with limits of its own.
  if (isRepeatedHeader(ctx.req, HEADER)) throw invalidHeader(SHOWN_HEADER, 'must be sent once.')
  const id = parseEndUserId(decodeHeader(header), SHOWN_HEADER, invalidHeader)
  if (named !== undefined && named !== id)
    throw invalid('end_user', `must equal the header ${SHOWN_HEADER} if both are sent.`)
  return id
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ASCII = /^[\x20-\x7e]*$/

/**
 * Returns the text of a header: clients send UTF-8, and Node gives its bytes as Latin-1. Bytes of another encoding are refused,
 * since a wrong guess would be another end user, with another's limits.
 */
function decodeHeader(header: string | string[]): string | string[] {
  if (typeof header !== 'string' || ASCII.test(header)) return header
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'))
  } catch {
    const problem = 'must be UTF-8; ids outside ASCII can also be sent as `end_user` in the body.'
    throw invalidHeader(SHOWN_HEADER, problem)
  }
}

/** Returns the fault of a header out of form. `invalid` is the one of a body that fails its schema. */
function invalidHeader(param: string, problem: string): Fault {
  return new Fault('request_validation_failed', `${param}: ${problem}`, { param })
}

/** Never truncates an id: two users whose ids start alike would become one. */
function parseEndUserId(
  given: unknown,
  param: string,
  toError: (param: string, problem: string) => Error,
): string {
  if (typeof given !== 'string') throw toError(param, 'must be a string.')
  if (!isEndUserId(given)) {
    throw toError(param, 'must have 1 to 255 characters of well-formed Unicode without control characters.')
  }
  if (isReservedEndUserId(given)) {
    throw invalid(
      param,
      'must not begin with "device:" or "member:", which are reserved, nor with what looks like them.',
    )
  }
  return given
}
