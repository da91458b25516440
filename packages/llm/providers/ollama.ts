import type { Provider } from '../spec.ts'

export const ollama: Provider = {
  id: 'ollama',
  name: 'Ollama',
  dialect: 'openai-chat',
  baseUrl: 'http://127.0.0.1:11434/v1',
  auth: 'none',
  models: 'any',
  openai: { unsupported: ['tool_choice', 'logit_bias', 'parallel_tool_calls', 'user'] },
  embeddings: { format: 'ollama-embed' },
}
