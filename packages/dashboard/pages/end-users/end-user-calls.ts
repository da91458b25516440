import { answerOf, api, type Resource } from '../../api/client.ts'

export type EndUser = Resource<'EndUser'>

export const endUsersKey = (envId: string): readonly unknown[] => ['end-users', envId]

export function listEndUsers(
  envId: string,
  { q, blocked }: { readonly q?: string; readonly blocked?: 'true' },
  cursor?: string,
) {
  const query = {
    limit: 50,
    ...(q === undefined ? {} : { q }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  return answerOf(api.GET('/v1/environments/{envId}/end-users', { params: { path: { envId }, query } }))
}

export function blockEndUser(id: string) {
  return answerOf(api.POST('/v1/end-users/{id}/block', { params: { path: { id } } }))
}

export function unblockEndUser(id: string) {
  return answerOf(api.POST('/v1/end-users/{id}/unblock', { params: { path: { id } } }))
}

/** `plan`: its name; null: none of their own. */
export function changePlan(id: string, plan: string | null) {
  return answerOf(api.PATCH('/v1/end-users/{id}', { params: { path: { id } }, body: { plan } }))
}
