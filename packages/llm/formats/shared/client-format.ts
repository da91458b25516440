import type { Framing } from '../../frames/framing.ts'
import type { JsonObject } from '../../json/json-value.ts'
import type { Provider } from '../../provider/provider.ts'
import type { ChatReply } from '../../reply/chat-reply.ts'
import type { ChatRequest } from '../../request/chat-request.ts'
import type { ClientFormatId } from '../../request/format-id.ts'
import type { SourceBody } from '../../request/source-body.ts'
import type { StreamDecoder } from '../../stream/stream-event.ts'
import type { Target } from '../../upstream/target.ts'
import type { UpstreamError } from '../../upstream/upstream-error.ts'
import type { EncodedRequest } from '../../upstream/upstream-request.ts'

/** The client side of a wire format. Pure. */
export interface ClientFormat {
  readonly id: ClientFormatId
  readonly framing: Framing
  /** The provider fetches no addresses: images that a request names by `https:` are fetched and sent along. */
  readonly inlinesImages?: true
  /** Fetched images go out in place of their addresses, also in a body of this very format. */
  readonly inlinesInOwn?: true
  /** Takes every form of OpenAI's `tool_choice`, such as `allowed_tools`. */
  readonly takesEveryToolChoice?: true
  /** A body of this very format goes out as it came, with the addresses in it. */
  readonly passesOwn?: true
  /** True if the target gets the marks of prompt caching that a request has. Absent: never, unless it is of this very format. */
  takesCacheMarks?(provider: Provider, model: string, source: SourceBody): boolean
  /** A stream repeats the request's instructions and tools: in two events before its first output, and in the last one. */
  readonly repeatsRequest?: true
  /** No field bounds the output: a model gives what it has at most, which is reserved whole. */
  readonly hasNoOutputCap?: true
  /** Without `source` the body is made from the request alone. `dropped`: wire names that must not be sent. */
  encodeRequest(
    request: ChatRequest,
    target: Target,
    source: SourceBody | undefined,
    dropped?: readonly string[],
  ): EncodedRequest
  /**
   * Wire names of the parameters that are set, that the target cannot honour, and whose loss would change the answer.
   * With `source`, also those that only a caller of the same format can send.
   */
  listUnsupportedParams(
    request: ChatRequest,
    provider: Provider,
    model: string,
    source?: SourceBody,
  ): readonly string[]
  /** A reply that carries an error instead of an answer has no choices. */
  decodeReply(body: JsonObject, target: Target): ChatReply
  openStream(target: Target): StreamDecoder
  readonly tokenCounter?: TokenCounter
  /** `body` as received, any content type. */
  decodeError(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: string,
  ): UpstreamError
}

/** A route of a format that counts a request's input without answering it. */
export interface TokenCounter {
  /** False: the provider has no such route for the model, so the gateway estimates. */
  canCount(target: Target): boolean
  encodeRequest: ClientFormat['encodeRequest']
  /** undefined: the answer has no count. */
  decodeReply(body: JsonObject): number | undefined
  /** The error says that there is no such route, or not for this model. Absent: no error says so. */
  isLacking?(error: UpstreamError): boolean
}

export type EncodeRequest = ClientFormat['encodeRequest']
export type ListUnsupportedParams = ClientFormat['listUnsupportedParams']
