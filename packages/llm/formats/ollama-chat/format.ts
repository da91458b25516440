import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { textAt } from '../shared/reading/read-fields.ts'
import { ollamaChat } from './client/client.ts'
import { toOllamaError } from './server/encode-error.ts'
import { encodeModelDetails, toModel } from './server/encode-model.ts'
import { generateServer } from './server/generate.ts'
import { ollamaServer } from './server/server.ts'

export const OLLAMA_MOUNT: Mount = { name: 'ollama', prefix: '/ollama', encodeFault: toOllamaError }

/** Clients ask for the version before they use newer routes. */
const API_VERSION = '0.12.0'

/** Ollama's chat. */
export const ollamaChatFormat: Format = {
  id: 'ollama-chat',
  client: ollamaChat,
  served: {
    mount: OLLAMA_MOUNT,
    chat: [
      { path: '/api/chat', server: ollamaServer },
      { path: '/api/generate', server: generateServer },
    ],
    models: [
      { kind: 'list', path: '/api/tags', encode: models => ({ models: models.map(toModel) }) },
      {
        kind: 'named in body',
        path: '/api/show',
        bodyLimitBytes: 1024 * 1024,
        parse: body => textAt(body.model ?? body.name, 'model'),
        encode: encodeModelDetails,
      },
      // No model waits in memory here.
      { kind: 'fixed', path: '/api/ps', endpoint: 'models', body: { models: [] } },
      { kind: 'fixed', path: '/api/version', endpoint: 'version', body: { version: API_VERSION } },
    ],
  },
}
