import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

/** What the pages for people who are not signed in offer. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => unwrap(api.GET('/v1/session/options')),
})
