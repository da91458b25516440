import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { cohereV2 } from './client/client.ts'
import { toCohereError } from './server/encode-error.ts'
import { cohereServer } from './server/server.ts'

export const COHERE_MOUNT: Mount = { name: 'cohere', prefix: '/cohere', encodeFault: toCohereError }

/** Version 2 of Cohere's chat. */
export const cohereV2Format: Format = {
  id: 'cohere-v2',
  client: cohereV2,
  served: { mount: COHERE_MOUNT, chat: [{ path: '/v2/chat', server: cohereServer }] },
}
