/** A wire format that we call providers in. */
export type ClientFormatId =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'gemini-content'
  | 'bedrock-converse'
  | 'cohere-v2'
  | 'ollama-chat'

/** A wire format that a caller speaks to us. `native` is the gateway's own `/v1/chat`. */
export type FormatId =
  | 'native'
  | ClientFormatId
  /** A Responses body that was sent to chat completions, as some editors do: nobody's own format. */
  | 'openai-mixed'
