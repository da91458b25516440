import { invalid, objectAt, optionalText, textAt } from '@rideau/llm/formats/shared/reading/read-fields'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { isObject } from '@rideau/llm/json/json-value'
import { isLine } from '@rideau/llm/request/bounded-text'
import { Fault } from '../../core/fault.ts'
import { isStorable } from '../../core/records/storable-json.ts'
import { isEndUserId, isReservedEndUserId, MAX_ATTRIBUTES_BYTES } from '../../core/tenancy/end-users.ts'
import { FederatedConfigError } from '../../identity/key-sets.ts'
import { verifyFederatedToken } from '../../identity/verify-federated-token.ts'
import { reidentify } from '../edge/identify.ts'
import { admitEndUser } from '../mint/admit-end-user.ts'
import { admitMint } from '../mint/admit-mint.ts'
import { assertOwnFields, chooseName, parseLifetime, parseScopes } from '../mint/parse-mint.ts'
import { sendToken } from '../mint/send-token.ts'
import { type JsonBody, readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

const TIMES = ['scopes', 'ttl_seconds', 'expires_in']
/** Fields of a body and of its end user. */
const SECRET_FIELDS = {
  body: new Set(['end_user', ...TIMES]),
  endUser: new Set(['id', 'external_id', 'plan', 'attributes']),
}
const PUBLISHABLE_FIELDS = {
  body: new Set(['identity_token', 'id_token', 'end_user', ...TIMES]),
  endUser: new Set(['plan', 'attributes']),
}
const OF_SECRET = { own: SECRET_FIELDS, others: PUBLISHABLE_FIELDS }
const OF_PUBLISHABLE = { own: PUBLISHABLE_FIELDS, others: SECRET_FIELDS }
const MAX_PLAN_LENGTH = 64
/** The most bytes of the whole end user. A longer one is refused before its fields are read. */
const MAX_END_USER_BYTES = 64 * 1024

/** The end user that gets the token. */
interface Subject {
  readonly id: string
  /** The plan that the backend or the identity provider names. */
  readonly plan: string | null
}

/**
 * `POST /v1/client-tokens`. With a secret key the backend names the end user; with a publishable key the token of the
 * project's identity provider does.
 */
export async function serveClientTokens(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  await admitMint(ctx, deps)
  const body = await readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  await reidentify(ctx, deps)
  const { value } = body
  const isSecret = ctx.caller.kind === 'secret'
  const { own, others } = isSecret ? OF_SECRET : OF_PUBLISHABLE
  assertOwnFields(value, own.body, others.body)
  const endUser = findEndUser(value, isSecret)
  if (endUser !== undefined) assertOwnFields(endUser, own.endUser, others.endUser, 'end_user')
  const named = isSecret ? parseSubject(endUser ?? {}) : parseIdentityToken(value)
  const attributes = parseAttributes(endUser, body)
  const scopes = parseScopes(value.scopes, ctx.caller)
  const lifetimeSeconds = parseLifetime(value)
  const subject = typeof named === 'string' ? await verifyIdentity(ctx, named, deps) : named
  const { plan: recordPlan } = await admitEndUser(ctx.environment, subject.id, attributes, deps)
  const method = isSecret ? 'secret_key' : 'federated'
  const grant = {
    endUserId: subject.id,
    recordPlan,
    namedPlan: subject.plan,
    method,
    scopes,
    lifetimeSeconds,
  } as const
  await sendToken(ctx, grant, deps)
}

function findEndUser({ end_user: given }: JsonObject, isSecret: boolean): JsonObject | undefined {
  if (given !== undefined && given !== null) return objectAt(given, 'end_user')
  if (isSecret) throw invalid('end_user', 'must be an object with the id of the end user.')
  return undefined
}

function parseSubject(endUser: JsonObject): Subject {
  const id = textAt(endUser[chooseName(endUser, 'id', 'external_id', 'end_user.')], 'end_user.id')
  if (!isEndUserId(id)) {
    const message = 'must have 1 to 255 characters of well-formed Unicode without control characters.'
    throw invalid('end_user.id', message)
  }
  if (isReservedEndUserId(id)) {
    throw invalid(
      'end_user.id',
      'must not begin with "device:" or "member:", which are reserved, nor with what looks like them.',
    )
  }
  const plan = optionalText(endUser, 'plan', 'end_user.plan') ?? null
  if (plan !== null && (plan === '' || !isLine(plan, MAX_PLAN_LENGTH))) {
    throw invalid('end_user.plan', `must be the name of a plan, of 1 to ${MAX_PLAN_LENGTH} characters.`)
  }
  return { id, plan }
}

function parseIdentityToken(body: JsonObject): string {
  const name = chooseName(body, 'identity_token', 'id_token')
  const token = textAt(body[name], name)
  if (token === '') throw invalid(name, 'must be a token of the identity provider.')
  return token
}

/** Returns the attributes as JSON; undefined: none were sent. Their size is that of this JSON, as on the control plane. */
function parseAttributes(endUser: JsonObject | undefined, { bytes, fields }: JsonBody): string | undefined {
  const attributes = endUser?.attributes
  if (attributes === undefined || attributes === null) return undefined
  const param = 'end_user.attributes'
  if (!isObject(attributes)) throw invalid(param, 'must be an object.')
  const outer = fields.get('end_user')
  const inside = outer === undefined ? undefined : bytes.subarray(outer.valueStart, outer.valueEnd)
  if (inside !== undefined && inside.length > MAX_END_USER_BYTES) {
    const message = `${param}: end_user must have at most ${MAX_END_USER_BYTES} bytes of JSON with them; got ${inside.length}.`
    throw new Fault('attributes_too_large', message, { param })
  }
  const json = JSON.stringify(attributes)
  const length = Buffer.byteLength(json)
  if (length > MAX_ATTRIBUTES_BYTES) {
    const message = `${param}: must have at most ${MAX_ATTRIBUTES_BYTES} bytes of JSON; got ${length}.`
    throw new Fault('attributes_too_large', message, { param })
  }
  if (!isStorable(attributes)) throw invalid(param, 'must be plain JSON without NUL.')
  return json
}

/** Returns the end user of an identity token. Why a token is invalid is logged and never answered. */
async function verifyIdentity(ctx: IdentifiedContext, token: string, deps: RouteDeps): Promise<Subject> {
  const { federatedAuth } = ctx.environment
  if (federatedAuth === null) {
    const message = 'The project accepts no identity tokens: it has no federated auth.'
    throw new Fault('federated_auth_not_configured', message)
  }
  try {
    const identity = await verifyFederatedToken(token, federatedAuth, deps.keySets, deps.now())
    if (identity.valid) return { id: identity.endUserId, plan: identity.plan }
    deps.log.info({ request_id: ctx.requestId, reason: identity.reason }, 'rejected an identity token')
  } catch (error) {
    if (!(error instanceof FederatedConfigError)) throw error
    deps.log.warn({ request_id: ctx.requestId, reason: error.message }, 'federated auth of a project fails')
    const message =
      "The keys of the project's identity provider cannot be had: its federated auth is invalid."
    throw new Fault('federated_config_invalid', message, { cause: error })
  }
  const message = 'The identity token is not valid for this project.'
  throw new Fault('invalid_identity_token', message, { param: 'identity_token' })
}
