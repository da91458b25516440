import { MAX_ATTEMPT_MS } from '../../core/attempts/retry.ts'
import { ALIAS_STRATEGIES } from '../../core/tenancy/tenancy.ts'
import type { AliasTargetRow } from '../../storage/model-tables.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

const Target = z.strictObject({
  model: textField(256).meta({ description: '`provider/model` or a bare name; never another alias.' }),
  weight: z.int().min(0).max(1000).nullish().meta({ description: 'For the strategy weighted. Default: 1.' }),
  timeout_ms: z.int().min(1_000).max(MAX_ATTEMPT_MS).nullish().meta({
    description:
      'Of one attempt: how long the whole answer, or the next event of a stream, may take. Default: 300,000, of audio 600,000. A shorter one of the request counts first.',
  }),
  max_retries: z.int().min(0).max(10).nullish().meta({
    description:
      'Further attempts at this target before the next, other credentials included. Absent: it shares three attempts with all targets without it. One request makes at most 24.',
  }),
})

/** The fields of an alias that can change; its name cannot. */
const aliasSettings = {
  strategy: z.enum(ALIAS_STRATEGIES),
  targets: z.array(Target).min(1).max(20),
}

const aliasField = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 letters, digits, dots, underscores, colons or hyphens')

export function toTargets(targets: readonly z.output<typeof Target>[]): AliasTargetRow[] {
  return targets.map(({ model, weight, timeout_ms, max_retries }) => ({
    model,
    weight: weight ?? null,
    timeout_ms: timeout_ms ?? null,
    max_retries: max_retries ?? null,
  }))
}

export function toTargetsJson(targets: readonly z.output<typeof Target>[]): string {
  return JSON.stringify(toTargets(targets))
}

export const NewModelAlias = z
  .strictObject({ alias: aliasField, ...aliasSettings })
  .meta({ id: 'NewModelAlias' })

const capabilities = z
  .array(capabilityField)
  .max(10)
  .nullish()
  .meta({ description: 'The capabilities that the request needs. Default: chat.' })

export const ModelAliasQuestion = z
  .strictObject({ capabilities })
  .optional()
  .meta({ id: 'ModelAliasQuestion' })

export const NewModelAliasQuestion = z
  .strictObject({ alias: aliasField, ...aliasSettings, capabilities })
  .meta({ id: 'NewModelAliasQuestion' })

export const ModelAliasChanges = z.strictObject(aliasSettings).partial().meta({ id: 'ModelAliasChanges' })
