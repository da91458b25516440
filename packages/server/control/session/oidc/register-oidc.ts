import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Fault } from '../../../core/fault.ts'
import { assertKnownQuery } from '../../../http/head/assert-known-query.ts'
import type { TrustedProxies } from '../../../http/head/client-address.ts'
import { insertAuditEntry } from '../../../storage/events/audit-log.ts'
import type { UserRow } from '../../../storage/schema.ts'
import { listMemberships } from '../../../storage/users/members.ts'
import { type Caller, toCaller } from '../../operation/caller.ts'
import type { Answer, Services } from '../../operation/operation.ts'
import { startSession } from '../session-life.ts'
import { findOidcUser } from './find-oidc-user.ts'
import { type OidcSettings, openOidcClient, type PendingSignIn } from './oidc-client.ts'

const PATH = '/v1/session/oidc'
/**
 * With https its `__Host-` prefix makes browsers enforce this host. A page of a sibling host could otherwise put in the cookie of its
 * own sign-in, and have the browser complete that one: the person would work in a stranger's account.
 */
const PENDING_COOKIE = { secure: '__Host-rideau_oidc', plain: 'rideau_oidc' } as const
/** The context to which the cookie's sealed value is bound. */
const CONTEXT = 'session:oidc'
/** How long a sign-in at the issuer may take. */
const PENDING_MS = 600_000

/**
 * Registers sign-in by an OpenID Connect issuer. Its two routes are for browsers, not for clients: they redirect and are
 * not in the OpenAPI document.
 */
export function registerOidc(
  app: FastifyInstance,
  services: Services,
  settings: OidcSettings,
  trustedProxies: TrustedProxies,
  log: Logger,
): void {
  const client = openOidcClient(settings, services.clock)
  const callbackUrl = (): string => `${services.baseUrl()}${PATH}/callback`

  const isSecure = (): boolean => services.baseUrl().startsWith('https:')
  const cookieName = (): string => (isSecure() ? PENDING_COOKIE.secure : PENDING_COOKIE.plain)
  const cookieOptions = () =>
    ({
      // The prefix needs this path.
      path: isSecure() ? '/' : PATH,
      httpOnly: true,
      // The issuer redirects the browser from another site, so the cookie cannot be Strict.
      sameSite: 'lax',
      secure: isSecure(),
      maxAge: PENDING_MS / 1000,
    }) as const

  app.get(`${PATH}/start`, async (request, reply) => {
    services.rates.countUnknown(toCaller(request, trustedProxies).address)
    assertKnownQuery(request.url, [])
    const { url, pending } = await client.begin(callbackUrl()).catch(cause => {
      log.warn({ err: cause }, 'the OIDC issuer could not be asked')
      throw new Fault('sign_in_failed', 'The identity provider could not be reached.')
    })
    const until = services.clock.now() + PENDING_MS
    const sealed = services.secretBox
      .seal(JSON.stringify({ ...pending, until }), CONTEXT)
      .toString('base64url')
    return reply
      .header('Cache-Control', 'no-store')
      .setCookie(cookieName(), sealed, cookieOptions())
      .redirect(url.href, 302)
  })

  app.get(`${PATH}/callback`, async (request, reply) => {
    const caller = toCaller(request, trustedProxies)
    const refund = services.rates.countAttempt('sign_in_by_oidc', caller.address)
    const pending = openPending(services, caller.cookies[cookieName()])
    const callback = new URL(callbackUrl())
    callback.search = new URL(request.url, callback).search
    const person = await client.finish(callback, pending).catch(cause => {
      log.warn({ err: cause }, 'a sign-in by OIDC did not fit')
      throw new Fault('sign_in_failed', 'The sign-in at the identity provider could not be completed.')
    })
    const user = await findOidcUser(services, person)
    const answer: Answer = {
      setCookie: (name, value, options) => void reply.setCookie(name, value, options),
      setReplayed: () => {},
    }
    if (user === undefined || !(await startSession(services, caller, answer, user))) {
      throw new Fault(
        'sign_in_failed',
        'No user or invitation has a verified e-mail address of this account.',
      )
    }
    refund()
    await auditSignIn(services, request, caller, user)
    return reply
      .header('Cache-Control', 'no-store')
      .setCookie(cookieName(), '', { ...cookieOptions(), maxAge: 0 })
      .redirect(`${services.baseUrl()}/`, 302)
  })
}

function openPending(services: Services, cookie: string | undefined): PendingSignIn {
  const sealed = Buffer.from(cookie ?? '', 'base64url')
  try {
    const pending = JSON.parse(services.secretBox.open(sealed, CONTEXT)) as PendingSignIn & { until: number }
    if (pending.until > services.clock.now()) return pending
  } catch {
    // An altered or shortened cookie, or one sealed with another key, counts as absent.
  }
  throw new Fault(
    'sign_in_failed',
    'This sign-in was started in another browser or has expired. Start again.',
  )
}

/** Adds the audit entry of the sign-in: a GET is not an operation that writes, so it gets none automatically. */
async function auditSignIn(
  services: Services,
  request: FastifyRequest,
  caller: Caller,
  user: UserRow,
): Promise<void> {
  const memberships = await listMemberships(services.wholeDb, user.id)
  const entry = {
    orgIds: memberships.map(({ org_id }) => org_id),
    actor: { kind: 'member', id: user.id },
    operation: 'session.create_by_oidc',
    resource: { kind: 'session', id: user.id },
    before: null,
    after: null,
    clientAddress: caller.address,
    requestId: request.id,
  } as const
  await insertAuditEntry(services.wholeDb, entry, services)
}
