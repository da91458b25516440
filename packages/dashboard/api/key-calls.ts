import { queryOptions } from '@tanstack/react-query'
import { toPrice } from '../format/money.ts'
import { api, type Resource, unwrap } from './client.ts'
import { loadAll } from './use-list.ts'

export type Key = Resource<'ApiKey'>
export type NewKey = Resource<'NewApiKey'>

export const keysKey = (envId: string): readonly unknown[] => ['keys', envId]

/** The longest beginning of a name that the API accepts. */
const MAX_SEARCH_LENGTH = 100

/** Returns a page of keys. With `beginning`, only keys whose names begin with it, in upper or lower case. */
export function listKeys(envId: string, cursor?: string, beginning?: string) {
  const query = {
    limit: 100,
    ...(cursor === undefined ? {} : { cursor }),
    ...(beginning === undefined ? {} : { q: beginning.slice(0, MAX_SEARCH_LENGTH) }),
  }
  return unwrap(api.GET('/v1/environments/{envId}/keys', { params: { path: { envId }, query } }))
}

export function getKey(keyId: string) {
  return unwrap(api.GET('/v1/keys/{keyId}', { params: { path: { keyId } } }))
}

/** Loads the keys whose names other pages show instead of ids. */
export const keyNamesQuery = (envId: string) =>
  queryOptions({ queryKey: ['key-names', envId], queryFn: () => loadAll(cursor => listKeys(envId, cursor)) })

export type KeyState = 'active' | 'rolling' | 'expired' | 'revoked'

export function stateOf(key: Key, now: number): KeyState {
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return 'expired'
  return key.rolled_to === null ? 'active' : 'rolling'
}

/** Describes briefly what the key may be used for. */
export function describeRights({ restrictions }: Key): string {
  const { allowed_models: models, allowed_endpoints: endpoints, max_request_cost_usd: cost } = restrictions
  const parts = [
    models === null ? 'any model' : models.length === 1 ? models[0] : `${models.length} models`,
    ...(endpoints === null ? [] : [endpoints.join(', ')]),
    ...(cost === null ? [] : [`≤ ${toPrice(cost)} a request`]),
  ]
  return parts.join(' · ')
}
