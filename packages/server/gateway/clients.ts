import { anthropicMessages } from '@rideau/llm/formats/anthropic-messages/client/client'
import { bedrockConverse } from '@rideau/llm/formats/bedrock-converse/client/client'
import { cohereV2 } from '@rideau/llm/formats/cohere-v2/client/client'
import { geminiContent } from '@rideau/llm/formats/gemini-content/client/client'
import { ollamaChat } from '@rideau/llm/formats/ollama-chat/client/client'
import { openAiChat } from '@rideau/llm/formats/openai-chat/client/client'
import { openAiResponses } from '@rideau/llm/formats/openai-responses/client/client'
import type { ClientDialect, DialectId } from '@rideau/llm/spec'

/** The wire formats that we call providers in. */
export const CLIENT_DIALECTS: Readonly<Record<DialectId, ClientDialect>> = {
  'openai-chat': openAiChat,
  'gemini-content': geminiContent,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
  'bedrock-converse': bedrockConverse,
  'cohere-v2': cohereV2,
  'ollama-chat': ollamaChat,
}
