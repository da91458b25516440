import { describe, expect, test } from 'vitest'
import { FIELDS as CHAT } from '../formats/openai-chat/wire/fields.ts'
import { FIELDS as RESPONSES } from '../formats/openai-responses/wire/fields.ts'
import type { JsonObject } from '../json/json-value.ts'
import { END_USER_GRANT, findUnsendable } from '../testing/outgoing/find-unsendable.ts'
import { findForbidden } from './outgoing-body.ts'

describe("Azure's security context", () => {
  const CONTEXT = { application_name: 'a', end_user_id: 'u', end_user_tenant_id: 't', source_ip: '192.0.2.1' }

  test('is accepted from keys, also as an option, and from no end user', () => {
    for (const { rules } of [CHAT, RESPONSES]) {
      const body = { user_security_context: CONTEXT }
      expect(findUnsendable(rules, body, { sender: 'key' })).toBeUndefined()
      expect(findUnsendable(rules, body)).toBe('user_security_context')
      const options = { fields: body, path: 'provider_options.azure' }
      expect(
        findForbidden({ rules, value: body, options }, { ...END_USER_GRANT, sender: 'key' }),
      ).toBeUndefined()
    }
  })

  test.each<[string, JsonObject]>([
    ['user_security_context.tenant_id', { user_security_context: { ...CONTEXT, tenant_id: 't' } }],
    ['user_security_context.model', { user_security_context: { ...CONTEXT, model: 'x' } }],
    [
      'user_security_context.end_user_tenant_id',
      { user_security_context: { end_user_tenant_id: { model: 'x' } } },
    ],
    ['end_user_tenant_id', { end_user_tenant_id: 't' }],
    ['novelty.end_user_tenant_id', { novelty: { end_user_tenant_id: 't' } }],
  ])('makes nothing else free: %s', (path, body) => {
    expect(findUnsendable(CHAT.rules, body, { sender: 'key' })).toBe(path)
  })
})
