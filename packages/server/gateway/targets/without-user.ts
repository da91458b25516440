import { toSender } from '../../core/access/to-sender.ts'
import type { Requester } from './requester.ts'

/**
 * Returns a request without the `user` of its body if an end user sent it, who could name another one: the provider limits and
 * blocks users by it. The log keeps it.
 */
export function withoutUser<R extends { readonly user?: string }>(
  request: R,
  { caller, environment }: Requester,
): Omit<R, 'user'> {
  if (request.user === undefined || toSender(caller, environment) !== 'end_user') return request
  const { user: _, ...rest } = request
  return rest
}
