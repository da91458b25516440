import { cohereV2 } from '@rideau/llm/formats/cohere-v2/client/client'
import type { Format } from '@rideau/llm/formats/shared/format'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { toyServer } from './server.ts'

const MOUNT: Mount = {
  name: 'toy',
  prefix: '/toy',
  keyHeader: 'x-toy-key',
  encodeFault: ({ code, message }) => ({ refused: code, why: message }),
}

/** The smallest possible format. It needs this folder and an entry in the list of formats, and nothing else. */
export const toyFormat: Format = {
  id: 'toy',
  // The client side of another format: the tests of the real formats cover client sides.
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
