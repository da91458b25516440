import { expect, test } from 'vitest'
import { maySignInAs } from './oidc-issuer.ts'

test.each([
  ['https://issuer.example', 'https://issuer.example/', true],
  ['https://issuer.example/realms/a', 'https://issuer.example/realms/a', true],
  ['https://issuer.example/realms/a', 'https://issuer.example/realms/b', false],
  ['https://issuer.example', 'https://old.example', false],
  ['https://issuer.example', 'accounts.google.com', false],
  // Discovery lets these name themselves otherwise, such as by the person's tenant.
  ['https://login.microsoftonline.com/common/v2.0', 'https://login.microsoftonline.com/a-tenant/v2.0', true],
  ['https://login.microsoftonline.com/a-tenant', 'https://sts.windows.net/a-tenant/', true],
  ['https://acme.b2clogin.com/acme/v2.0', 'https://acme.b2clogin.com/a-tenant/v2.0', true],
  ['https://issuer.example/.well-known/openid-configuration', 'https://any.example', true],
])('of the issuer %s a person may have the issuer %s: %s', (configured, issuer, expected) => {
  expect(maySignInAs(configured, issuer)).toBe(expected)
})
