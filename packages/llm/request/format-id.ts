/** The id of a wire format in which providers are called, such as `openai-chat`. formats/index.ts lists them. */
export type ClientFormatId = string

/**
 * The id of the wire format of a caller's request: a client format's, `native` for the gateway's own `/v1/chat`, or
 * `openai-mixed` for a Responses body that was sent to Chat Completions, which no provider speaks.
 */
export type FormatId = string
