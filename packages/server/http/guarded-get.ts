import { type GuardedAnswer, type GuardedOptions, guardedRequest } from './guarded-request.ts'

/** A GET as guardedRequest makes it. */
export function guardedGet(
  url: string,
  options: Omit<GuardedOptions, 'method' | 'body'>,
): Promise<GuardedAnswer> {
  return guardedRequest(url, options)
}
