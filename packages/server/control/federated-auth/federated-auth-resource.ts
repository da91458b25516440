import type { FederatedAuthRow } from '../../storage/end-users/federated-auth.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const FederatedAuthResource = z
  .strictObject({
    project_id: uuid,
    issuer: z.union([z.string(), z.array(z.string())]),
    audiences: z.array(z.string()).nullable(),
    authorized_parties: z.array(z.string()).nullable(),
    jwks_url: z.string().nullable(),
    algorithms: z.array(z.string()),
    user_id_claim: z.string(),
    plan_claim: z.string().nullable(),
    required_claims: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))),
    clock_tolerance_seconds: z.int(),
    max_token_age_seconds: z.int(),
    ...stamps,
  })
  .meta({ id: 'FederatedAuth' })

export function toFederatedAuthResource(row: FederatedAuthRow): z.output<typeof FederatedAuthResource> {
  const [first, ...others] = row.issuers
  return {
    ...storedFields(FederatedAuthResource, row),
    issuer: others.length === 0 && first !== undefined ? first : row.issuers,
    audiences: orNull(row.audiences),
    authorized_parties: orNull(row.authorized_parties),
    ...toStamps(row),
  }
}

function orNull(list: string[]): string[] | null {
  return list.length === 0 ? null : list
}

export const FederatedAuthTest = z
  .strictObject({
    valid: z.boolean(),
    end_user_id: z.string().nullable(),
    plan: z.string().nullable().meta({ description: "The value of the token's plan claim." }),
    reason: z.string().nullable().meta({ description: 'Why the token would be rejected.' }),
  })
  .meta({ id: 'FederatedAuthTest' })
