import type { Format } from '../shared/format.ts'
import { OPENAI_MOUNT } from '../shared/reading/openai-mount.ts'
import { openAiCompletions } from './client.ts'
import { completionsServer } from './server.ts'

/** OpenAI's older completions of a bare prompt. */
export const openAiCompletionsFormat: Format = {
  id: 'openai-completions',
  client: openAiCompletions,
  served: { mount: OPENAI_MOUNT, chat: [{ path: '/v1/completions', server: completionsServer }] },
}
