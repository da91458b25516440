import { hash } from 'node:crypto'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { Fault } from '../../core/fault.ts'
import type { DeviceAuth } from '../../core/tenancy/device-auth.ts'
import { reidentify } from '../edge/identify.ts'
import { sendJson } from '../edge/send.ts'
import { admitEndUser } from '../mint/admit-end-user.ts'
import { admitMint } from '../mint/admit-mint.ts'
import { checkAssertion, checkAttestation, type DeviceVerdict } from '../mint/check-device.ts'
import {
  type Assertion,
  type Attestation,
  type DeviceRequest,
  parseAssertion,
  parseAttestation,
} from '../mint/parse-device.ts'
import { pauseUntil } from '../mint/pause-until.ts'
import { NO_STORE, sendToken } from '../mint/send-token.ts'
import { assertNoBody } from '../request/assert-no-body.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

const CHALLENGE_MS = 300_000
const CHALLENGE_BYTES = 32
/** Every rejection takes at least this long, so that its time tells nothing about the check that failed. */
const REJECTION_MS = 100

/** `POST /v1/device/challenge`: what a device signs. Valid for 300 seconds, once. */
export async function serveDeviceChallenge(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  const { android } = getDeviceAuth(ctx)
  await admitMint(ctx, deps)
  await asInvalidRequest(assertNoBody(ctx, deps.bodyTimeoutMs))
  // An attestation may follow in a moment.
  if (android !== null) deps.revocations.refresh()
  const challenge = deps.randomBytes(CHALLENGE_BYTES).toString('base64url')
  const now = deps.now()
  const { id: environmentId, orgId } = ctx.environment
  const expiresAt = new Date(now + CHALLENGE_MS)
  const row = { hash: hashOf(challenge), orgId, environmentId, now: new Date(now), expiresAt }
  await orUnavailable(deps.devices.insertChallenge(row))
  sendJson(ctx, 201, { challenge, expires_at: expiresAt.toISOString() }, NO_STORE)
}

/** `POST /v1/device/attest`: registers a device's key and makes its first client token. */
export function serveDeviceAttest(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  return serveDevice<Attestation>(ctx, parseAttestation, checkAttestation, deps)
}

/** `POST /v1/device/assert`: makes a client token for a device whose key was registered. */
export function serveDeviceAssert(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  return serveDevice<Assertion>(ctx, parseAssertion, checkAssertion, deps)
}

async function serveDevice<Given extends DeviceRequest>(
  ctx: IdentifiedContext,
  parse: (body: JsonObject, ctx: IdentifiedContext) => Given,
  check: (ctx: IdentifiedContext, given: Given, deps: RouteDeps) => Promise<DeviceVerdict>,
  deps: RouteDeps,
): Promise<void> {
  getDeviceAuth(ctx)
  await admitMint(ctx, deps)
  const body = await readBody(ctx, deps)
  await reidentify(ctx, deps)
  const given = parse(body, ctx)
  if (getDeviceAuth(ctx)[given.platform] === null) throw notConfigured()
  // Before anything is checked, so that the wait tells nothing about what is.
  if (given.platform === 'android' && 'parts' in given) await deps.revocations.ready()
  const startedAt = performance.now()
  const verdict = await verify(ctx, given, check, deps)
  if ('rejection' in verdict) {
    deps.log.info({ request_id: ctx.requestId, reason: verdict.rejection }, 'rejected a device')
    await pauseUntil(startedAt + REJECTION_MS)
    throw new Fault('invalid_device_attestation', 'The device could not be verified.')
  }
  const { endUserId } = verdict
  const { plan: recordPlan } = await admitEndUser(ctx.environment, endUserId, undefined, deps)
  const { scopes, lifetimeSeconds } = given
  const grant = { endUserId, recordPlan, namedPlan: null, method: 'device', scopes, lifetimeSeconds } as const
  await sendToken(ctx, grant, deps)
}

/** Uses the challenge up before anything else, whatever the outcome is. */
async function verify<Given extends DeviceRequest>(
  ctx: IdentifiedContext,
  given: Given,
  check: (ctx: IdentifiedContext, given: Given, deps: RouteDeps) => Promise<DeviceVerdict>,
  deps: RouteDeps,
): Promise<DeviceVerdict> {
  const { id } = ctx.environment
  const consuming = deps.devices.consumeChallenge(id, hashOf(given.challenge), new Date(deps.now()))
  if (!(await orUnavailable(consuming))) return { rejection: 'The challenge is unknown, used or expired.' }
  return await orUnavailable(check(ctx, given, deps))
}

function getDeviceAuth({ environment }: IdentifiedContext): DeviceAuth {
  if (environment.deviceAuth === null) throw notConfigured()
  return environment.deviceAuth
}

function notConfigured(): Fault {
  const message = 'The project has no device auth for this platform.'
  return new Fault('device_attest_not_configured', message)
}

async function readBody(ctx: IdentifiedContext, deps: RouteDeps): Promise<JsonObject> {
  return (await asInvalidRequest(readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs))).value
}

const MALFORMED: ReadonlySet<string> = new Set(['request_validation_failed', 'unsupported_media_type'])

/** On these routes a body that is not JSON, by its bytes or its type, is `invalid_request` too. */
async function asInvalidRequest<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof Fault) || !MALFORMED.has(error.code)) throw error
    const { message, param } = error
    throw new Fault('invalid_request', message, param === undefined ? {} : { param })
  }
}

function hashOf(challenge: string): Buffer {
  return hash('sha256', challenge, 'buffer')
}

async function orUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const message = 'Devices could not be looked up right now. Try again shortly.'
    throw new Fault('config_unavailable', message, { cause, retryAfterSeconds: 1 })
  }
}
