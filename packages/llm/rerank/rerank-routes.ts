import { COHERE_MOUNT } from '../formats/cohere-v2/format.ts'
import { NATIVE_MOUNT } from '../formats/native/format.ts'
import type { Mount } from '../formats/shared/reading/mount.ts'
import { OPENAI_MOUNT } from '../formats/shared/reading/openai-mount.ts'
import { cohereRerankServer, compatRerank, nativeRerank, type RerankServer } from './rerank-server.ts'

/** A path on which callers ask for documents to be ordered. It begins behind the mount's prefix. */
export interface RerankRoute {
  readonly mount: Mount
  readonly path: string
  readonly server: RerankServer
}

/** Every such path, of all formats. */
export const RERANK_ROUTES: readonly RerankRoute[] = [
  { mount: NATIVE_MOUNT, path: '/v1/rerank', server: nativeRerank },
  { mount: OPENAI_MOUNT, path: '/v1/rerank', server: compatRerank },
  { mount: COHERE_MOUNT, path: '/v2/rerank', server: cohereRerankServer('2') },
  { mount: COHERE_MOUNT, path: '/v1/rerank', server: cohereRerankServer('1') },
]
