import type { ClientFormatId } from '../request/format-id.ts'
import { anthropicMessages } from './anthropic-messages/client/client.ts'
import { bedrockConverse } from './bedrock-converse/client/client.ts'
import { cohereV2 } from './cohere-v2/client/client.ts'
import { geminiContent } from './gemini-content/client/client.ts'
import { ollamaChat } from './ollama-chat/client/client.ts'
import { openAiChat } from './openai-chat/client/client.ts'
import { openAiResponses } from './openai-responses/client/client.ts'
import type { ClientFormat } from './shared/client-format.ts'

/** The wire formats that we call providers in. */
export const CLIENT_FORMATS: Readonly<Record<ClientFormatId, ClientFormat>> = {
  'openai-chat': openAiChat,
  'gemini-content': geminiContent,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
  'bedrock-converse': bedrockConverse,
  'cohere-v2': cohereV2,
  'ollama-chat': ollamaChat,
}
