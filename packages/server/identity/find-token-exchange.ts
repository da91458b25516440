import { exchangeClientSecret } from './exchange-client-secret.ts'
import { exchangeServiceAccount } from './exchange-service-account.ts'
import type { ExchangedCredential, TokenExchange } from './token-exchange.ts'

/** The exchange that turns this credential into an access token; undefined if it is sent as it is. */
export function findTokenExchange({ provider, options }: ExchangedCredential): TokenExchange | undefined {
  switch (provider.auth) {
    case 'google':
      return exchangeServiceAccount
    case 'api-key':
      return isApplication(options) ? exchangeClientSecret : undefined
    default:
      return undefined
  }
}

/** True for a Microsoft Entra application: its key is a client secret. */
function isApplication(options: ExchangedCredential['options']): boolean {
  return typeof options?.tenant_id === 'string' || typeof options?.client_id === 'string'
}
