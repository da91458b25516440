import type { Format } from '../shared/format.ts'
import { OPENAI_MOUNT } from '../shared/reading/openai-mount.ts'
import { openAiResponses } from './client/client.ts'
import { responsesCount, responsesServer } from './server/server.ts'

/** OpenAI's Responses. */
export const openAiResponsesFormat: Format = {
  id: 'openai-responses',
  client: openAiResponses,
  served: {
    mount: OPENAI_MOUNT,
    chat: [{ path: '/v1/responses', server: responsesServer }],
    counts: [{ path: '/v1/responses/input_tokens', count: responsesCount }],
  },
}
