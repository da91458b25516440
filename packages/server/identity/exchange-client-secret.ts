import { requestToken, toFailure } from './request-token.ts'
import type { ExchangedCredential, ExchangeOptions, TokenResult } from './token-exchange.ts'

const AUTHORITY = 'https://login.microsoftonline.com'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
/** A directory's GUID or domain. No other character, because the value becomes part of the URL. */
const TENANT = /^[a-z0-9](?:[a-z0-9.-]{0,253}[a-z0-9])?$/i

/**
 * Exchanges the client secret of a Microsoft Entra application for an access token, by OAuth's client credentials grant
 * (RFC 6749, section 4.4; learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 */
export async function exchangeClientSecret(
  { apiKey, options: { tenant_id: tenantId, client_id: clientId } = {} }: ExchangedCredential,
  options: ExchangeOptions,
  authority = AUTHORITY,
): Promise<TokenResult> {
  if (typeof tenantId !== 'string' || typeof clientId !== 'string') {
    return toFailure('auth', 'tenant_id and client_id must be set together')
  }
  if (!TENANT.test(tenantId))
    return toFailure('auth', 'tenant_id must be the GUID or a domain of a directory')
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: apiKey, scope: SCOPE }
  return await requestToken(`${authority}/${tenantId}/oauth2/v2.0/token`, form, options)
}
