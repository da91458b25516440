import { Fault } from '../../core/fault.ts'
import { chargeLookupsTo, type EgressPolicy } from '../../http/egress/egress.ts'
import { findAddressObjection } from '../../http/egress/find-address-objection.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const WEBHOOK_EVENTS = ['budget.alert', 'quota.alert', 'credential.invalid', 'circuit.open'] as const

const webhookFields = {
  url: textField(2048),
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(100),
}

export const NewWebhook = z.strictObject(webhookFields).meta({ id: 'NewWebhook' })
export const WebhookChange = z.strictObject(webhookFields).partial().meta({ id: 'WebhookChange' })

/**
 * Checks the URL of a webhook, and looks its name up, so call it before the first statement. The addresses are checked
 * again at each delivery.
 */
export async function parseWebhookUrl(text: string, egress: EgressPolicy, orgId: string): Promise<string> {
  // One share for all of an organization's calls: an address is chosen by the caller.
  const policy = chargeLookupsTo(egress, toLookupOwner(orgId))
  const objection = await findAddressObjection(text, policy)
  if (objection !== undefined) {
    throw new Fault('invalid_request', `url ${objection}.`, { param: 'url' })
  }
  return new URL(text).href
}

/** Returns the events without duplicates, in the order of WEBHOOK_EVENTS. */
export function toEvents(events: readonly (typeof WEBHOOK_EVENTS)[number][]): string[] {
  return WEBHOOK_EVENTS.filter(event => events.includes(event))
}
