import { queryOptions } from '@tanstack/react-query'
import { answerOf, api } from '../api/client.ts'

/** What the pages for people who are not signed in offer. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => answerOf(api.GET('/v1/session/options')),
})
