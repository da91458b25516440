import { toAnthropicError } from '@rideau/llm/formats/anthropic-messages/server/encode-error'
import {
  explainCredential,
  toConverseError,
  toErrorHeaders,
} from '@rideau/llm/formats/bedrock-converse/server/encode-error'
import { toCohereError } from '@rideau/llm/formats/cohere-v2/server/encode-error'
import { toGoogleError } from '@rideau/llm/formats/gemini-content/server/encode-error'
import { toEnvelope } from '@rideau/llm/formats/native/server/encode-error'
import { toOllamaError } from '@rideau/llm/formats/ollama-chat/server/encode-error'
import type { Fault } from '../../core/fault.ts'
import type { MountName } from '../request/prefixes.ts'

/** What sets a surface apart besides its formats of requests and answers. */
export interface Mount {
  /** In which its clients send their key; a Bearer token is read on every surface. Lower case. */
  readonly keyHeader?: string
  /** A query parameter in which clients of the format may send their key: refused, since addresses end in logs. */
  readonly refusedKeyParam?: string
  /** In which its clients look for the request's id, besides `X-Request-Id`. */
  readonly idHeader?: string
  /** Why the `Authorization` header that came is none of ours, where there is more to say than that it is not. */
  explainCredential?(authorization: string | undefined): string | undefined
  /** What a failure looks like before an answer began. */
  encodeFault(fault: Fault, requestId: string, baseUrl: string): object
  /** Headers of a failure besides those of every surface, as name, value, name, value. */
  faultHeaders?(fault: Fault): string[]
}

const OURS: Mount = { encodeFault: toEnvelope }

/** Compat failures are our own envelope, which is a superset of theirs (contract.md §2). */
export const MOUNTS: Readonly<Record<MountName, Mount>> = {
  native: OURS,
  openai: OURS,
  anthropic: { keyHeader: 'x-api-key', idHeader: 'request-id', encodeFault: toAnthropicError },
  gemini: {
    keyHeader: 'x-goog-api-key',
    refusedKeyParam: 'key',
    encodeFault: toGoogleError,
  },
  ollama: { encodeFault: toOllamaError },
  cohere: { encodeFault: toCohereError },
  bedrock: {
    idHeader: 'x-amzn-requestid',
    encodeFault: toConverseError,
    faultHeaders: toErrorHeaders,
    explainCredential,
  },
}
