import { askToken, refusal } from './ask-token.ts'
import type { ExchangedCredential, ExchangeOptions, TokenAnswer } from './token-exchange.ts'

const AUTHORITY = 'https://login.microsoftonline.com'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
/** A directory's GUID or one of its domains: nothing that could change the address around it. */
const TENANT = /^[a-z0-9](?:[a-z0-9.-]{0,253}[a-z0-9])?$/i

/**
 * An Entra application's secret for an access token, by OAuth's client credentials (RFC 6749 §4.4;
 * learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 */
export async function exchangeClientSecret(
  { apiKey, options: { tenant_id: tenantId, client_id: clientId } = {} }: ExchangedCredential,
  options: ExchangeOptions,
  authority = AUTHORITY,
): Promise<TokenAnswer> {
  if (typeof tenantId !== 'string' || typeof clientId !== 'string') {
    return refusal('auth', 'tenant_id and client_id are needed both, or neither')
  }
  if (!TENANT.test(tenantId)) return refusal('auth', 'the tenant_id is no directory')
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: apiKey, scope: SCOPE }
  return await askToken(`${authority}/${tenantId}/oauth2/v2.0/token`, form, options)
}
