import createClient from 'openapi-fetch'
import type { components, paths } from '../../sdk/generated/control-api.ts'
import { toEnvelopeError } from './api-error.ts'

/** The client of the control plane on this page's origin. The browser adds the session's cookie and the `Origin` header. */
export const api = createClient<paths>({ baseUrl: '/', headers: { 'X-Rideau-CSRF': '1' } })

/** A resource by its name in the OpenAPI document. */
export type Resource<Name extends keyof components['schemas']> = components['schemas'][Name]

interface Outcome<T> {
  readonly data?: T | undefined
  readonly error?: unknown
  readonly response: Response
}

/** Returns the body of a successful answer. Throws an ApiError for every other one. */
export async function unwrap<T>(call: Promise<Outcome<T>>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw toEnvelopeError(error, response)
  return data as T
}
