import type { Format } from '../shared/format.ts'
import { OPENAI_MOUNT } from '../shared/reading/openai-mount.ts'
import { openAiChat } from './client/client.ts'
import { toModel } from './server/encode-model.ts'
import { openAiChatServer } from './server/server.ts'

/** OpenAI's Chat Completions, which many other providers speak too. */
export const openAiChatFormat: Format = {
  id: 'openai-chat',
  client: openAiChat,
  served: {
    mount: OPENAI_MOUNT,
    chat: [{ path: '/v1/chat/completions', server: openAiChatServer }],
    models: [
      {
        kind: 'list',
        path: '/v1/models',
        encode: models => ({ object: 'list', data: models.map(toModel) }),
      },
      { kind: 'one', path: '/v1/models/*', encode: toModel },
    ],
  },
}
