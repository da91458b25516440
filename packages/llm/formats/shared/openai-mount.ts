import { toOpenAiEnvelope } from './error-envelope.ts'
import type { Mount } from './mount.ts'

/** OpenAI's API. Our own error envelope is a superset of its. */
export const OPENAI_MOUNT: Mount = { name: 'openai', prefix: '/openai', encodeFault: toOpenAiEnvelope }
