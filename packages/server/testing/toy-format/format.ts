import { cohereV2 } from '@rideau/llm/formats/cohere-v2/client/client'
import type { Format } from '@rideau/llm/formats/shared/format'
import type { Mount } from '@rideau/llm/formats/shared/mount'
import { toyServer } from './server.ts'

const MOUNT: Mount = {
  name: 'toy',
  prefix: '/toy',
  keyHeader: 'x-toy-key',
  encodeFault: ({ code, message }) => ({ refused: code, why: message }),
}

/** The smallest format there can be. It touches this folder and the list that it is added to, and nothing else. */
export const toyFormat: Format = {
  id: 'toy',
  // Called like another format: what a client side does is proved by the formats that there are.
  client: { ...cohereV2, id: 'toy' },
  served: {
    mount: MOUNT,
    chat: [{ path: '/say/*', server: toyServer }],
    counts: [
      {
        path: '/count/*',
        count: { server: toyServer, parse: toyServer.parse, encode: tokens => ({ tokens }) },
      },
    ],
    models: [{ kind: 'list', path: '/models', encode: models => ({ names: models.map(({ id }) => id) }) }],
  },
}
