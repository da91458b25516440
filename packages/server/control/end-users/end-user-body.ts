import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import { isEndUserId, isReservedEndUserId, MAX_ATTRIBUTES_BYTES } from '../../core/tenancy/end-users.ts'
import { findPlan, findPlanByName } from '../../storage/policies/plans.ts'
import type { Db } from '../../storage/pool.ts'
import { textField } from '../operation/fields.ts'
import { jsonObjectField } from '../operation/json-object-field.ts'
import { z } from '../operation/zod.ts'

const endUserFields = {
  // Not trimmed: it must equal the id in tokens and requests.
  external_id: z
    .string()
    .refine(isEndUserId, 'must have 1 to 255 characters, no control characters')
    .meta({ minLength: 1, maxLength: 255 }),
  plan: textField(64).nullish().meta({ description: "A plan's name or id." }),
  attributes: jsonObjectField(MAX_ATTRIBUTES_BYTES, 'attributes_too_large').nullish(),
}

export const NewEndUser = z.strictObject(endUserFields).meta({ id: 'NewEndUser' })
export const EndUserChange = z.strictObject(endUserFields).partial().meta({ id: 'EndUserChange' })

/** Throws 400 for an id that only the app assigns, to devices and members. */
export function assertNotReserved(externalId: string): void {
  if (!isReservedEndUserId(externalId)) return
  const message =
    'external_id must not begin with device: or member:, which are reserved, nor with what looks like them.'
  throw new Fault('invalid_request', message, { param: 'external_id' })
}

export function encodeAttributes(attributes: Readonly<Record<string, unknown>> | null): string {
  const json = JSON.stringify(attributes ?? {})
  if (Buffer.byteLength(json, 'utf8') <= MAX_ATTRIBUTES_BYTES) return json
  const message = `attributes must be at most ${MAX_ATTRIBUTES_BYTES} bytes of JSON.`
  throw new Fault('attributes_too_large', message, { param: 'attributes' })
}

/** Returns the id of the plan with this name or, if there is none, with this id. Throws 400 if neither exists. */
export async function findPlanId(
  db: Db,
  environmentId: string,
  plan: string | null | undefined,
): Promise<string | null> {
  if (plan == null) return null
  const named = await findPlanByName(db, environmentId, plan)
  if (named !== undefined) return named.id
  const byId = isUuid(plan) ? await findPlan(db, plan) : undefined
  if (byId?.environment_id === environmentId) return byId.id
  throw new Fault('invalid_request', 'The environment has no plan with this name or id.', { param: 'plan' })
}
