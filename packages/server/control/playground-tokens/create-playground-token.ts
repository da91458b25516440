import { signClientToken, TOKEN_AUDIENCE } from '../../core/access/client-token.ts'
import { type Actor, memberIdIn } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import { seeEndUser } from '../../storage/end-users/end-users.ts'
import { getSigner } from '../../storage/keys/signing-keys.ts'
import { dateTime } from '../operation/fields.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

/** The lifetime of a playground token: 15 minutes. */
const LIFE_SECONDS = 900

const ClientTokenResource = z
  .strictObject({ token: z.string(), expires_at: dateTime, end_user_id: z.string() })
  .meta({ id: 'ClientToken' })

export const createPlaygroundToken = defineOperation('POST /v1/environments/{envId}/playground-token', {
  name: 'playground_tokens.create',
  summary:
    "Creates a client token with every scope for the caller, valid for 15 minutes and from this host's pages too. Its end user is `member:<id>`, the id of the member or management key. It becomes invalid when the member loses access.",
  access: { role: 'developer', of: 'environment' },
  response: { 201: ClientTokenResource },
  faults: ['signing_key_unavailable', 'end_user_blocked'],
  audit: ({ resource }) => ({ resourceId: resource.id }),
  handle: async ({ services, actor, resource }) => {
    const { clock, newId } = services
    // Load the signing key before the operation's own statements: signing keys belong to no organization.
    const signer = await getSigner(services.wholeDb, services, clock.now())
    const sub = `member:${idOf(actor, resource.org_id)}`
    // It has a record as any other end user, by which it can be limited and blocked.
    const seen = { ...newRecord(services), ...ownerColumns(resource), external_id: sub }
    const endUser = await seeEndUser(services.db, seen)
    if (endUser.blocked_at !== null) throw new Fault('end_user_blocked', 'This end user is blocked.')
    const issuedAt = Math.floor(clock.now() / 1000)
    const exp = issuedAt + LIFE_SECONDS
    const token = signClientToken(
      {
        iss: services.gatewayUrl(),
        aud: TOKEN_AUDIENCE,
        sub,
        org: resource.org_id,
        prj: resource.project_id,
        env: resource.id,
        scope: SCOPES.join(' '),
        // The default plan counts at each request (findPlan).
        plan: null,
        amr: 'member',
        pk: null,
        ver: 1,
        iat: issuedAt,
        nbf: issuedAt,
        exp,
        jti: newId(),
      },
      signer,
    )
    return { token, expires_at: new Date(exp * 1000).toISOString(), end_user_id: sub }
  },
})

/** Returns the id of the member in this organization; for a management key, the key's own id. */
function idOf(actor: Actor, orgId: string): string {
  return actor.kind === 'member' ? memberIdIn(actor, orgId) : actor.id
}
