import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

/** Loads whether set-up is open and how users can sign in. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => unwrap(api.GET('/v1/session/options')),
})
