import { toEnvelope } from '../shared/errors/error-envelope.ts'
import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { nativeServer } from './server/server.ts'

export const NATIVE_MOUNT: Mount = { name: 'native', prefix: '', encodeFault: toEnvelope }

/** The gateway's own chat. */
export const native: Format = {
  id: 'native',
  served: { mount: NATIVE_MOUNT, chat: [{ path: '/v1/chat', server: nativeServer }] },
}
