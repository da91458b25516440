import type { Provider } from '../provider/provider.ts'

/**
 * Spoken to in its own format, because only there can a request say how much context the model gets (`num_ctx`); the
 * list of models, and with it the check of a credential, is OpenAI's at `/v1`.
 */
export const ollama: Provider = {
  id: 'ollama',
  name: 'Ollama',
  format: 'ollama-chat',
  baseUrl: 'http://127.0.0.1:11434/v1',
  auth: 'none',
  // Tokens of context for every request of the credential; a model is loaded anew where the number changes.
  options: [
    {
      name: 'num_ctx',
      type: 'text',
      required: false,
      secret: false,
      label: 'Context length',
      help: 'In tokens, such as 8192. Empty: what the server is set to.',
    },
  ],
  models: 'any',
  ownMounts: ['ollama', 'ollama-openai', 'ollama-anthropic'],
  embeddings: { format: 'ollama-embed' },
}
