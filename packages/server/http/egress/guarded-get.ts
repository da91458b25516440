import { type GuardedAnswer, type GuardedOptions, guardedRequest } from './guarded-request.ts'

/** Makes a GET request with guardedRequest. */
export function guardedGet(
  url: string,
  options: Omit<GuardedOptions, 'method' | 'body'>,
): Promise<GuardedAnswer> {
  return guardedRequest(url, options)
}
