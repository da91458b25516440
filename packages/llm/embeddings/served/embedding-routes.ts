import { BEDROCK_MOUNT } from '../../formats/bedrock-converse/format.ts'
import { COHERE_MOUNT } from '../../formats/cohere-v2/format.ts'
import { GEMINI_MOUNT, GEMINI_NAMED } from '../../formats/gemini-content/format.ts'
import { NATIVE_MOUNT } from '../../formats/native/format.ts'
import { OLLAMA_MOUNT } from '../../formats/ollama-chat/format.ts'
import { OPENAI_UNDER_OLLAMA } from '../../formats/ollama-chat/other-formats.ts'
import type { Mount } from '../../formats/shared/reading/mount.ts'
import { OPENAI_MOUNT } from '../../formats/shared/reading/openai-mount.ts'
import { compatEmbeddings, type EmbeddingServer, nativeEmbeddings } from '../embedding-server.ts'
import { cohereEmbed } from './cohere.ts'
import { geminiBatchEmbed, geminiEmbedContent } from './gemini.ts'
import { ollamaEmbed, ollamaEmbeddingsRoute } from './ollama.ts'
import { titanEmbeddings } from './titan.ts'

/** A path on which callers ask for embeddings. It begins behind the mount's prefix; `*` is the model. */
export interface EmbeddingRoute {
  readonly mount: Mount
  readonly path: string
  readonly server: EmbeddingServer
  /** The names of models that it serves, where another route has the same path. Absent: all. */
  readonly models?: RegExp
}

/** Matches the names of embedding models: `amazon.titan-embed-text-v2:0`, `text-embedding-3-small`, `embed-v4.0`. */
const EMBEDDERS = /embed(?:dings?)?(?![a-z])/i

/** Every such path, of all formats. */
export const EMBEDDING_ROUTES: readonly EmbeddingRoute[] = [
  { mount: NATIVE_MOUNT, path: '/v1/embeddings', server: nativeEmbeddings },
  { mount: OPENAI_MOUNT, path: '/v1/embeddings', server: compatEmbeddings },
  ...GEMINI_NAMED.flatMap(models => [
    { mount: GEMINI_MOUNT, path: `${models}/*:embedContent`, server: geminiEmbedContent },
    { mount: GEMINI_MOUNT, path: `${models}/*:batchEmbedContents`, server: geminiBatchEmbed },
  ]),
  { mount: OLLAMA_MOUNT, path: '/api/embed', server: ollamaEmbed },
  { mount: OLLAMA_MOUNT, path: '/api/embeddings', server: ollamaEmbeddingsRoute },
  { mount: OPENAI_UNDER_OLLAMA, path: '/embeddings', server: compatEmbeddings },
  { mount: BEDROCK_MOUNT, path: '/model/*/invoke', server: titanEmbeddings, models: EMBEDDERS },
  { mount: COHERE_MOUNT, path: '/v2/embed', server: cohereEmbed },
]
