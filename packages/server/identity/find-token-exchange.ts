import { exchangeServiceAccount } from './exchange-service-account.ts'
import type { ExchangedCredential, TokenExchange } from './token-exchange.ts'

/** How this credential becomes an access token; undefined: it is sent as it is. */
export function findTokenExchange({ provider }: ExchangedCredential): TokenExchange | undefined {
  switch (provider.auth) {
    case 'google':
      return exchangeServiceAccount
    default:
      return undefined
  }
}
