import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

/** A change of this key in the local storage signs other tabs out too. */
export const SIGNED_OUT_KEY = 'rideau.signed-out-at'

/** Ends the session, or with `true` every session of the user. */
export function useSignOut() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (everywhere: boolean) =>
      unwrap(api.DELETE('/v1/session', everywhere ? { params: { query: { everywhere: 'true' } } } : {})),
    onSuccess: () => {
      client.clear()
      localStorage.setItem(SIGNED_OUT_KEY, String(Date.now()))
      // A full page load, so that nothing of the previous user stays in memory.
      location.assign('/sign-in')
    },
  })
}
