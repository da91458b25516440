import { findModel } from '@rideau/llm/providers/catalog'
import { findProvider } from '@rideau/llm/providers/index'
import { Fault } from '../../core/fault.ts'
import type { CustomModelRow, PricingRow } from '../../storage/model-tables.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

const MAX_TOKENS = 100_000_000
/** USD per million tokens. */
const MAX_PRICE = 1_000_000

/** Prices have at most six decimals, so that the cost of a single token is exact. */
const price = z
  .number()
  .min(0)
  .max(MAX_PRICE)
  .refine(usd => Number(usd.toFixed(6)) === usd, 'must have at most six decimals')

const Pricing = z.strictObject({
  input_usd_per_mtok: price,
  output_usd_per_mtok: price,
  cached_input_usd_per_mtok: price.nullish(),
  cache_write_usd_per_mtok: price.nullish(),
})

const customModelFields = {
  model: textField(256).meta({ description: '`provider/model`' }),
  capabilities: z.array(capabilityField).min(1).max(10),
  context_window: z.int().min(1).max(MAX_TOKENS).nullish(),
  max_output_tokens: z.int().min(1).max(MAX_TOKENS).nullish(),
  pricing: Pricing.nullish().meta({
    description: 'Needs the role admin. Absent or null: unknown, which is not the same as zero.',
  }),
}

export const NewCustomModel = z.strictObject(customModelFields).meta({ id: 'NewCustomModel' })
export const CustomModelChanges = z
  .strictObject(customModelFields)
  .partial()
  .meta({ id: 'CustomModelChanges' })

/** Throws `invalid_request` if the provider of a model is not known; the environment needs no credential for it. */
export function assertModelName(model: string): void {
  const { provider, name } = splitModelName(model)
  if (name === '' || findProvider(provider) === undefined) {
    throw new Fault('invalid_request', 'model must be provider/model with a known provider.', {
      param: 'model',
    })
  }
}

/** Returns whether the catalogue has a price for the model: replacing that price, even by "unknown", counts as setting a price. */
export function hasListPrice(model: string): boolean {
  const { provider, name } = splitModelName(model)
  return (findModel(provider, name)?.pricing ?? null) !== null
}

/** The provider of a name without a slash is empty. */
function splitModelName(model: string): { readonly provider: string; readonly name: string } {
  const slash = model.indexOf('/')
  return { provider: model.slice(0, Math.max(slash, 0)), name: model.slice(slash + 1) }
}

/** True if the record has a price, or stands for one of the catalogue's: whoever removes or moves it changes a price. */
export function decidesPrice({ model, pricing }: Pick<CustomModelRow, 'model' | 'pricing'>): boolean {
  return pricing !== null || hasListPrice(model)
}

/** Returns the column value. */
export function toPricingJson(pricing: z.output<typeof Pricing> | null): string | null {
  if (pricing === null) return null
  const row: PricingRow = {
    input_usd_per_mtok: pricing.input_usd_per_mtok,
    output_usd_per_mtok: pricing.output_usd_per_mtok,
    cached_input_usd_per_mtok: pricing.cached_input_usd_per_mtok ?? null,
    cache_write_usd_per_mtok: pricing.cache_write_usd_per_mtok ?? null,
  }
  return JSON.stringify(row)
}
