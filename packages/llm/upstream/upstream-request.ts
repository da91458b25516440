/** A request without the credential: authorizeRequest adds that last, because a signature covers the rest. */
export interface UpstreamRequest {
  /** Absent: POST. */
  readonly method?: 'GET' | 'POST'
  readonly origin: string
  /** With query, from the origin's root. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer
  /**
   * The path of a field that the caller was not allowed to set (see outgoing-body.ts): authorizeRequest refuses such a
   * request. undefined or absent: there is none.
   */
  readonly reserved?: string | undefined
  /** Wire names of what the format has no word for and the request asks for in another way. Absent: nothing. */
  readonly emulated?: readonly string[]
}
