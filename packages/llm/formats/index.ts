import { anthropicMessagesFormat } from './anthropic-messages/format.ts'
import { bedrockConverseFormat } from './bedrock-converse/format.ts'
import { cohereV2Format } from './cohere-v2/format.ts'
import { geminiContentFormat } from './gemini-content/format.ts'
import { native } from './native/format.ts'
import { ollamaChatFormat } from './ollama-chat/format.ts'
import { anthropicUnderOllama, openAiUnderOllama } from './ollama-chat/other-formats.ts'
import { openAiChatFormat } from './openai-chat/format.ts'
import { openAiCompactFormat } from './openai-compact/format.ts'
import { openAiCompletionsFormat } from './openai-completions/format.ts'
import { openAiResponsesFormat } from './openai-responses/format.ts'
import type { Format } from './shared/format.ts'

/** Every wire format: the only list of them. */
export const FORMATS: readonly Format[] = [
  native,
  openAiChatFormat,
  openAiResponsesFormat,
  openAiCompletionsFormat,
  openAiCompactFormat,
  anthropicMessagesFormat,
  geminiContentFormat,
  cohereV2Format,
  bedrockConverseFormat,
  ollamaChatFormat,
  openAiUnderOllama,
  anthropicUnderOllama,
]
