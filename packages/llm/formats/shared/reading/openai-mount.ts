import { toOpenAiEnvelope } from '../errors/error-envelope.ts'
import type { Mount } from './mount.ts'

/** OpenAI's API. The gateway's own error envelope is a superset of OpenAI's. */
export const OPENAI_MOUNT: Mount = { name: 'openai', prefix: '/openai', encodeFault: toOpenAiEnvelope }
