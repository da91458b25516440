import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { anthropicMessages } from './client/client.ts'
import { toAnthropicError } from './server/encode-error.ts'
import { encodeModelList, toModel } from './server/encode-model.ts'
import { anthropicCount, anthropicServer } from './server/server.ts'

export const ANTHROPIC_MOUNT: Mount = {
  name: 'anthropic',
  prefix: '/anthropic',
  keyHeader: 'x-api-key',
  idHeader: 'request-id',
  encodeFault: toAnthropicError,
}

/** Anthropic's Messages. */
export const anthropicMessagesFormat: Format = {
  id: 'anthropic-messages',
  client: anthropicMessages,
  served: {
    mount: ANTHROPIC_MOUNT,
    chat: [{ path: '/v1/messages', server: anthropicServer }],
    counts: [{ path: '/v1/messages/count_tokens', count: anthropicCount }],
    models: [
      { kind: 'list', path: '/v1/models', encode: encodeModelList },
      { kind: 'one', path: '/v1/models/*', encode: toModel },
    ],
  },
}
