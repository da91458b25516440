import { ANTHROPIC_MOUNT } from '../anthropic-messages/format.ts'
import { anthropicCount, anthropicServer } from '../anthropic-messages/server/server.ts'
import { openAiChatFormat } from '../openai-chat/format.ts'
import { openAiCompactFormat } from '../openai-compact/format.ts'
import { openAiCompletionsFormat } from '../openai-completions/format.ts'
import { openAiResponsesFormat } from '../openai-responses/format.ts'
import type { Format, ServedFormat } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { OPENAI_MOUNT } from '../shared/reading/openai-mount.ts'

/** What Ollama's server offers of other formats, below its own address. The settings move both with Ollama's prefix. */

export const OPENAI_UNDER_OLLAMA: Mount = { ...OPENAI_MOUNT, name: 'ollama-openai', prefix: '/ollama/v1' }
const ANTHROPIC_UNDER_OLLAMA: Mount = {
  ...ANTHROPIC_MOUNT,
  name: 'ollama-anthropic',
  prefix: '/ollama/v1/messages',
}

/** `{ollama prefix}/v1/...`: the same routes as under OpenAI's prefix. */
export const openAiUnderOllama: Format = {
  id: 'openai-under-ollama',
  served: {
    mount: OPENAI_UNDER_OLLAMA,
    chat: [openAiChatFormat, openAiResponsesFormat, openAiCompletionsFormat, openAiCompactFormat].flatMap(
      format => listBelowV1(format, 'chat'),
    ),
    counts: listBelowV1(openAiResponsesFormat, 'counts'),
    models: listBelowV1(openAiChatFormat, 'models'),
  },
}

/** `{ollama prefix}/v1/messages` and its count. */
export const anthropicUnderOllama: Format = {
  id: 'anthropic-under-ollama',
  served: {
    mount: ANTHROPIC_UNDER_OLLAMA,
    chat: [{ path: '', server: anthropicServer }],
    counts: [{ path: '/count_tokens', count: anthropicCount }],
  },
}

type Kind = 'chat' | 'counts' | 'models'
type Routes<K extends Kind> = NonNullable<ServedFormat[K]>

/** The routes of a format, whose paths begin with `/v1`, without that. */
function listBelowV1<K extends Kind>({ served }: Format, kind: K): Routes<K> {
  const routes = (served?.[kind] ?? []) as Routes<K>
  return routes.map(route => ({ ...route, path: route.path.replace(/^\/v1/, '') })) as unknown as Routes<K>
}
