import { anthropicMessages } from '@rideau/llm/dialects/anthropic-messages/client'
import { bedrockConverse } from '@rideau/llm/dialects/bedrock-converse/client'
import { cohereV2 } from '@rideau/llm/dialects/cohere-v2/client'
import { geminiContent } from '@rideau/llm/dialects/gemini/client'
import { ollamaChat } from '@rideau/llm/dialects/ollama-chat/client'
import { openAiChat } from '@rideau/llm/dialects/openai-chat/client'
import { openAiResponses } from '@rideau/llm/dialects/openai-responses/client'
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
