import { signClientToken, TOKEN_AUDIENCE, type TokenSigner } from '../../core/client-token.ts'
import { Fault } from '../../core/fault.ts'
import { type Actor, memberIdIn } from '../../core/permissions.ts'
import { SCOPES } from '../../core/tenancy.ts'
import { findDefaultPlan } from '../../storage/plans.ts'
import { findSigner, rotateSigningKeys } from '../../storage/signing-keys.ts'
import { dateTime } from '../operation/fields.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
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
  faults: ['signing_key_unavailable'],
  audit: ({ resource }) => ({ resourceId: resource.id }),
  handle: async ({ services, actor, resource }) => {
    const { clock, newId } = services
    // Load the signing key before the operation's own statements: signing keys belong to no organization.
    const signer = await getSigner(services)
    const plan = await findDefaultPlan(services.db, resource.id)
    const issuedAt = Math.floor(clock.now() / 1000)
    const sub = `member:${idOf(actor, resource.org_id)}`
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
        plan: plan?.name ?? null,
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

async function getSigner({ wholeDb, secretBox, newId, clock }: Services): Promise<TokenSigner> {
  const now = clock.now()
  try {
    const signer = await findSigner(wholeDb, secretBox, now)
    if (signer !== undefined) return signer
    await rotateSigningKeys(wholeDb, { secretBox, newId }, now)
    const made = await findSigner(wholeDb, secretBox, now)
    if (made !== undefined) return made
    throw new Error('the rotation created no current signing key')
  } catch (cause) {
    throw new Fault(
      'signing_key_unavailable',
      'Client tokens cannot be signed right now. Try again shortly.',
      {
        cause,
        retryAfterSeconds: 5,
      },
    )
  }
}
