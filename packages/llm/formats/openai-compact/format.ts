import type { Format } from '../shared/format.ts'
import { OPENAI_MOUNT } from '../shared/reading/openai-mount.ts'
import { openAiCompact } from './client.ts'
import { COMPACT_ID } from './compact-id.ts'
import { compactServer } from './server.ts'

/** OpenAI's compaction of a conversation. */
export const openAiCompactFormat: Format = {
  id: COMPACT_ID,
  client: openAiCompact,
  served: { mount: OPENAI_MOUNT, chat: [{ path: '/v1/responses/compact', server: compactServer }] },
}
