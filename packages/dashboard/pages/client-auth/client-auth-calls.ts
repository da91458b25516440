import { queryOptions } from '@tanstack/react-query'
import { toApiError } from '../../api/api-error.ts'
import { api, type Resource, unwrap } from '../../api/client.ts'

export type FederatedAuth = Resource<'FederatedAuth'>
export type DeviceAuth = Resource<'DeviceAuth'>

/** Loads the identity provider's settings, or null if there are none. */
export const federatedAuthQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['federated-auth', projectId],
    queryFn: () =>
      orNull(unwrap(api.GET('/v1/projects/{projectId}/federated-auth', { params: { path: { projectId } } }))),
  })

export const deviceAuthQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['device-auth', projectId],
    queryFn: () =>
      orNull(unwrap(api.GET('/v1/projects/{projectId}/device-auth', { params: { path: { projectId } } }))),
  })

export const projectQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId],
    queryFn: () => getProject(projectId),
  })

export function getProject(projectId: string) {
  return unwrap(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } }))
}

async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (toApiError(error).status === 404) return null
    throw error
  }
}

/** Returns the lines of a text field as a list. */
export function toLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(line => line !== '')
}
