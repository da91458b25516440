import type { Provider } from '../provider/provider.ts'
import { alibaba } from './alibaba.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { cohere } from './cohere.ts'
import { custom } from './custom.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { huggingface } from './huggingface.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { sandbox } from './sandbox.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { voyage } from './voyage.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

/** Every provider that can be called. A new one with a known format takes a file, a line here and a catalogue. */
export const PROVIDERS: readonly Provider[] = [
  openai,
  anthropic,
  azure,
  gemini,
  vertex,
  groq,
  mistral,
  deepseek,
  xai,
  together,
  fireworks,
  openrouter,
  perplexity,
  cerebras,
  moonshot,
  zai,
  alibaba,
  nvidia,
  huggingface,
  voyage,
  bedrock,
  cohere,
  ollama,
  vllm,
  custom,
  sandbox,
]

const BY_ID: ReadonlyMap<string, Provider> = new Map(PROVIDERS.map(provider => [provider.id, provider]))

/** A credential's provider may be `custom-<slug>`, so that an environment can have several servers. */
const CUSTOM_ID = /^custom-[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export function findProvider(id: string): Provider | undefined {
  return BY_ID.get(id) ?? (CUSTOM_ID.test(id) ? { ...custom, id } : undefined)
}
