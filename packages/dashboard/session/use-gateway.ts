import { useMemo } from 'react'
import { fromBackend, RideauClient } from '../../sdk/index.ts'
import { api, unwrap } from '../api/client.ts'
import { useEnvironment, useWorkspace } from './environment-context.tsx'

/**
 * The client library's own client for the gateway. Its tokens come from the control plane, last 15 minutes and are renewed a minute
 * before their end. A failed call is shown, not repeated.
 */
export function useGateway(): RideauClient {
  const { gateway_url: gatewayUrl } = useWorkspace()
  const { environment } = useEnvironment()
  return useMemo(
    () =>
      new RideauClient({
        gatewayUrl,
        maxRetries: 0,
        tokenSource: fromBackend(() =>
          unwrap(
            api.POST('/v1/environments/{envId}/playground-token', {
              params: { path: { envId: environment.id } },
            }),
          ),
        ),
      }),
    [gatewayUrl, environment.id],
  )
}
