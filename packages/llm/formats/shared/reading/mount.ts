import type { ServedFault } from '../errors/served-fault.ts'

/** An API as its clients expect it, whatever formats it has: where it begins, and what its answers share. */
export interface Mount {
  /** The name in the log. */
  readonly name: string
  /** What its paths begin with unless a setting says otherwise. Empty: nothing. */
  readonly prefix: string
  /** The header in which its clients send their key; a Bearer token is read on every mount. Lower case. */
  readonly keyHeader?: string
  /** A query parameter in which its clients may send their key: refused, since addresses end in logs. */
  readonly refusedKeyParam?: string
  /** The header in which its clients look for the request's id, besides `X-Request-Id`. */
  readonly idHeader?: string
  /** Why the `Authorization` header that came is no credential, where there is more to say than that it is missing. */
  explainCredential?(authorization: string | undefined): string | undefined
  /** The body of a failure before an answer began. */
  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): object
  /** Headers of a failure besides those of every mount, as name, value, name, value. */
  faultHeaders?(fault: ServedFault): string[]
}
