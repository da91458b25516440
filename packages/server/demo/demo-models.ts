import type { ModelPricing } from '@rideau/llm/provider/prices'
import { findModel } from '@rideau/llm/providers/catalog'

/** A model of the demo's traffic. */
export interface DemoModel {
  readonly provider: string
  readonly model: string
  readonly endpoint: 'chat' | 'embeddings'
  /** The model's share of the requests; `former` before the migration of week 8. */
  readonly weight: number
  readonly former?: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly firstByteMs: number
  readonly msPerToken: number
  readonly reasons?: true
  readonly pricing: ModelPricing | null
}

const MODELS: readonly Omit<DemoModel, 'pricing'>[] = [
  chat('openai', 'gpt-5.4-mini', 34, 900, 240, 420, 7, { former: 2 }),
  chat('openai', 'gpt-4o-mini', 3, 850, 230, 480, 9, { former: 36 }),
  chat('openai', 'gpt-5.4', 5, 1_600, 420, 900, 14, { reasons: true }),
  chat('anthropic', 'claude-sonnet-4-5', 16, 1_900, 380, 820, 12),
  chat('anthropic', 'claude-haiku-4-5', 7, 700, 180, 390, 6),
  chat('anthropic', 'claude-opus-4-5', 1, 3_200, 700, 1_500, 19, { reasons: true }),
  chat('gemini', 'gemini-2.5-flash', 9, 1_100, 260, 360, 5),
  chat('gemini', 'gemini-2.5-pro', 2, 2_400, 520, 1_300, 11, { reasons: true }),
  chat('mistral', 'mistral-large-latest', 2, 1_000, 300, 610, 10),
  chat('mistral', 'codestral-latest', 3, 1_400, 200, 300, 6),
  chat('groq', 'llama-3.3-70b-versatile', 4, 650, 210, 160, 2),
  chat('deepseek', 'deepseek-chat', 3, 1_200, 330, 900, 16),
  // No list has its price: unpriced.
  chat('groq', 'acme-tuned-8b', 1, 420, 90, 120, 2),
  { ...chat('openai', 'text-embedding-3-small', 10, 300, 0, 90, 0), endpoint: 'embeddings' },
]

export const DEMO_MODELS: readonly DemoModel[] = MODELS.map(model => ({
  ...model,
  pricing: findModel(model.provider, model.model)?.pricing ?? null,
}))

/** The model of the sandbox, which costs nothing. */
export const SANDBOX: DemoModel = { ...chat('sandbox', 'echo', 0, 40, 40, 12, 1), pricing: null }

/** The alias of each environment, and its targets: the second answers while the first fails. */
export const ALIAS = 'fast'
export const ALIAS_TARGETS = [
  getDemoModel('anthropic/claude-haiku-4-5'),
  getDemoModel('openai/gpt-5.4-mini'),
] as const

/** The model whose circuit is open. */
export const CIRCUIT_MODEL = 'anthropic/claude-opus-4-5'

export const DEMO_PROVIDERS = [...new Set(MODELS.map(({ provider }) => provider))]

function getDemoModel(name: string): DemoModel {
  const found = DEMO_MODELS.find(({ provider, model }) => `${provider}/${model}` === name)
  if (found === undefined) throw new Error(`the demo has no model ${name}`)
  return found
}

function chat(
  provider: string,
  model: string,
  weight: number,
  inputTokens: number,
  outputTokens: number,
  firstByteMs: number,
  msPerToken: number,
  more: { readonly former?: number; readonly reasons?: true } = {},
): Omit<DemoModel, 'pricing'> {
  const sizes = { inputTokens, outputTokens, firstByteMs, msPerToken }
  return { provider, model, endpoint: 'chat', weight, ...sizes, ...more }
}
