import type { Json, JsonObject } from '../json/json-value.ts'
import type { Message } from './message.ts'
import type { ResponseFormat } from './response-format.ts'
import type { FunctionTool, ToolChoice } from './tools.ts'

/** One chat request in the canonical form, whichever format it was received in. */
export interface ChatRequest {
  /** The model's name in the request: `provider/model`, an alias or a bare name. */
  readonly model: string
  readonly messages: readonly Message[]
  /** The gateway has fetched images of the messages: they differ from those of the received body. */
  readonly hasFetchedImages?: true
  readonly stream: boolean
  /** True if the caller asked for usage in the stream. The gateway always asks the provider. */
  readonly includeUsage: boolean
  readonly tools?: readonly FunctionTool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: ResponseFormat
  readonly maxOutputTokens?: number
  /** The output cap of the received body, where a format must know whether maxOutputTokens was lowered since. */
  readonly receivedOutputCap?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly reasoningEffort?: string
  readonly user?: string
  /** Top-level fields that have no canonical meaning, of formats that let them pass: a target that knows such a field takes it from here. */
  readonly extra?: ReadonlyMap<string, Json>
  /** The body in one spelling, of a format with several: what a target of this format is sent. It must not be changed. */
  readonly passedBody?: JsonObject
  /** Fields of the received body in another spelling than the provider's format has; undefined as a value: left out. */
  readonly respelled?: ReadonlyMap<string, Json | undefined>
  /** True if tools stand in namespaces or in items of the input. They are functions in the canonical form. */
  readonly flattensTools?: true
  /** Input that goes along unread in a body that passes through, such as documents to answer from: it is counted only. */
  readonly passedInput?: Json
  /**
   * The received messages carry reasoning for another provider, in the ids of tool calls or under a mark of the gateway. A body
   * that passes through gets its messages written anew without it.
   */
  readonly carriesReasoning?: true
  /** The provider could not read the encrypted reasoning of earlier turns, so it is not sent. */
  readonly leavesReasoningOut?: true
  /** Merged into the body of the provider named by the key. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject }
  /** Fields of the caller's format that no canonical field stands for: a target of the same format gets them as they are. */
  readonly ownFields?: JsonObject
}
