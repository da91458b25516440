import type { Key } from '../../api/key-calls.ts'
import { SelectField, TextAreaField, TextField } from '../../controls/field.tsx'
import { textOf } from '../../controls/use-form.ts'

const ENDPOINTS = ['chat', 'embeddings', 'images', 'audio', 'client_tokens', 'device', 'feedback'] as const
const DAY_MS = 86_400_000

interface RestrictionFieldsProps {
  /** The restrictions of the key that is changed. */
  readonly restrictions?: Key['restrictions']
  readonly problemOf: (name: string) => string | undefined
}

export function RestrictionFields({ restrictions, problemOf }: RestrictionFieldsProps) {
  return (
    <>
      <TextAreaField
        label="Models"
        name="restrictions.allowed_models"
        isOptional
        rows={2}
        defaultValue={restrictions?.allowed_models?.join('\n')}
        placeholder={'openai/gpt-4o-mini\nanthropic/*'}
        hint="One per line: a model, an alias, or provider/* for every model of a provider. Leave empty to allow every model."
        problem={problemOf('restrictions.allowed_models')}
      />
      <fieldset>
        <legend className="field-label">
          Endpoints <span className="muted">(all if none is chosen)</span>
        </legend>
        <div className="choices">
          {ENDPOINTS.map(name => (
            <label key={name} className="choice">
              <input
                type="checkbox"
                name="restrictions.allowed_endpoints"
                value={name}
                defaultChecked={restrictions?.allowed_endpoints?.includes(name) ?? false}
              />
              {name}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label="Maximum cost of one request, in US dollars"
        name="restrictions.max_request_cost_usd"
        type="number"
        min={0}
        step="any"
        isOptional
        defaultValue={restrictions?.max_request_cost_usd ?? ''}
        problem={problemOf('restrictions.max_request_cost_usd')}
      />
    </>
  )
}

/** Chooses when a key expires. `kept` is the text of a first option that changes nothing, for a form that changes a key. */
export function ExpiryField({ kept }: { kept?: string }) {
  return (
    <SelectField label="Expires" name="days" defaultValue={kept === undefined ? '' : 'kept'}>
      {kept !== undefined && <option value="kept">{kept}</option>}
      <option value="">Never</option>
      <option value="7">In 7 days</option>
      <option value="30">In 30 days</option>
      <option value="90">In 90 days</option>
      <option value="365">In a year</option>
    </SelectField>
  )
}

/** Returns the fields of a key for the API. `expires_at` is absent if the form does not change it. */
export function readKeyFields(data: FormData) {
  const models = textOf(data, 'restrictions.allowed_models')
    .split(/[\n,]/)
    .map(item => item.trim())
    .filter(item => item !== '')
  const chosen = data.getAll('restrictions.allowed_endpoints')
  const endpoints = ENDPOINTS.filter(name => chosen.includes(name))
  const cost = textOf(data, 'restrictions.max_request_cost_usd')
  const days = textOf(data, 'days')
  return {
    name: textOf(data, 'name'),
    restrictions: {
      allowed_models: models.length === 0 ? null : models,
      allowed_endpoints: endpoints.length === 0 ? null : endpoints,
      max_request_cost_usd: cost === '' ? null : Number(cost),
    },
    ...(days === 'kept' ? {} : { expires_at: toExpiry(days) }),
  }
}

function toExpiry(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
}
