import type { JsonObject } from '../../json/json-value.ts'
import { findForbidden } from '../../upstream/outgoing-body.ts'
import type { FieldRules, Grant, Sender } from '../../upstream/outgoing-rules.ts'

export const END_USER_GRANT: Grant = {
  sender: 'end_user',
  model: 'm',
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'none',
}

/** Those with a client token, whose bodies are checked for what the provider stores. */
export const TOKEN_SENDERS: readonly Sender[] = ['end_user', 'trusted_end_user']

/** Returns the path of the first field that may not be sent: by an end user, unless `grant` names another sender. */
export function findUnsendable(
  rules: FieldRules,
  value: JsonObject,
  grant: Partial<Grant> = {},
): string | undefined {
  return findForbidden({ rules, value }, { ...END_USER_GRANT, ...grant })
}
