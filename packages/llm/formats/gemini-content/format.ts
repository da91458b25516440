import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { geminiContent } from './client/client.ts'
import { toGoogleError } from './server/encode-error.ts'
import { toModel } from './server/encode-model.ts'
import { geminiCount, geminiEvents, geminiList, geminiServer } from './server/server.ts'

export const GEMINI_MOUNT: Mount = {
  name: 'gemini',
  prefix: '/gemini',
  keyHeader: 'x-goog-api-key',
  refusedKeyParam: 'key',
  encodeFault: toGoogleError,
}

/** Google's clients ask for one of these; nothing that is served here differs between them. */
const GEMINI_MODELS = ['/v1beta/models', '/v1/models', '/v1alpha/models']

/** Clients that take a name with a slash for a whole path leave the collection out: `/v1beta/openai/gpt-4o:generateContent`. */
export const GEMINI_NAMED = [...GEMINI_MODELS, ...GEMINI_MODELS.map(path => path.replace('/models', ''))]

/** Google's generateContent, of the Gemini API and Vertex AI. */
export const geminiContentFormat: Format = {
  id: 'gemini-content',
  client: geminiContent,
  served: {
    mount: GEMINI_MOUNT,
    chat: GEMINI_NAMED.flatMap(models => [
      { path: `${models}/*:generateContent`, server: geminiServer },
      {
        path: `${models}/*:streamGenerateContent`,
        server: geminiList,
        whenQuery: { name: 'alt', value: 'sse', server: geminiEvents },
      },
    ]),
    counts: GEMINI_NAMED.map(models => ({ path: `${models}/*:countTokens`, count: geminiCount })),
    models: GEMINI_MODELS.flatMap(path => [
      { kind: 'list', path, encode: models => ({ models: models.map(toModel) }) },
      { kind: 'one', path: `${path}/*`, encode: toModel },
    ]),
  },
}
