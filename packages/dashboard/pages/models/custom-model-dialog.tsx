import { useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { CAPABILITIES, type Capability, type CustomModel, customModelsKey } from './model-calls.ts'

const INPUT = 'pricing.input_usd_per_mtok'
const OUTPUT = 'pricing.output_usd_per_mtok'

interface CustomModelDialogProps {
  /** The model to change. Without it, one is created. */
  readonly model?: CustomModel
  readonly onClose: () => void
}

export function CustomModelDialog({ model, onClose }: CustomModelDialogProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const form = useForm(
    (data, header) =>
      model === undefined
        ? unwrap(
            api.POST('/v1/environments/{envId}/custom-models', {
              params: { path: { envId: environment.id } },
              body: toBody(data, undefined),
            }),
          )
        : unwrap(
            api.PATCH('/v1/custom-models/{id}', {
              params: { path: { id: model.id }, header },
              body: toBody(data, model),
            }),
          ),
    () => {
      void client.invalidateQueries({ queryKey: customModelsKey(environment.id) })
      onClose()
    },
  )
  return (
    <Dialog
      title={model === undefined ? 'Add a model' : `Change ${model.model}`}
      variant="drawer"
      onClose={onClose}
    >
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Model"
          name="model"
          required
          maxLength={256}
          data-focus
          defaultValue={model?.model}
          placeholder="openai/my-fine-tune"
          hint="The provider, a slash, and the provider's name for the model. A model of the catalogue gets this price instead."
          problem={form.problemOf('model')}
        />
        <CapabilityFields chosen={model?.capabilities ?? ['chat']} problem={form.problemOf('capabilities')} />
        <TextField
          label="Context, in tokens"
          name="context_window"
          type="number"
          min={1}
          isOptional
          defaultValue={model?.context_window ?? ''}
          problem={form.problemOf('context_window')}
        />
        <TextField
          label="Maximum output, in tokens"
          name="max_output_tokens"
          type="number"
          min={1}
          isOptional
          defaultValue={model?.max_output_tokens ?? ''}
          problem={form.problemOf('max_output_tokens')}
        />
        <PriceFields pricing={model?.pricing} problemOf={form.problemOf} />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {model === undefined ? 'Add model' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface CapabilityFieldsProps {
  readonly chosen: readonly Capability[]
  readonly problem: string | undefined
}

function CapabilityFields({ chosen, problem }: CapabilityFieldsProps) {
  return (
    <fieldset>
      <legend className="field-label">Capabilities</legend>
      <div className="choices">
        {Object.entries(CAPABILITIES).map(([name, label]) => (
          <label key={name} className="choice">
            <input
              type="checkbox"
              name="capabilities"
              value={name}
              defaultChecked={chosen.includes(name as Capability)}
            />
            {label}
          </label>
        ))}
      </div>
      {problem !== undefined && <p className="problem">{problem}</p>}
    </fieldset>
  )
}

interface PriceFieldsProps {
  readonly pricing: CustomModel['pricing'] | undefined
  readonly problemOf: (name: string) => string | undefined
}

function PriceFields({ pricing, problemOf }: PriceFieldsProps) {
  const disabledReason = useDisabledReason('admin')
  return disabledReason === undefined ? (
    <>
      <TextField
        label="Input, US dollars per million tokens"
        name={INPUT}
        type="number"
        min={0}
        step="any"
        isOptional
        defaultValue={pricing?.input_usd_per_mtok ?? ''}
        hint="Without a price the model is unpriced, and no budget allows it."
        problem={problemOf(INPUT)}
      />
      <TextField
        label="Output, US dollars per million tokens"
        name={OUTPUT}
        type="number"
        min={0}
        step="any"
        isOptional
        defaultValue={pricing?.output_usd_per_mtok ?? ''}
        problem={problemOf(OUTPUT)}
      />
    </>
  ) : (
    <p className="muted small">Prices: {disabledReason}</p>
  )
}

/** Returns the body of the call. The prices of cached input of the `old` model are kept. */
function toBody(data: FormData, old: CustomModel | undefined) {
  const chosen = data.getAll('capabilities')
  return {
    model: textOf(data, 'model'),
    capabilities: (Object.keys(CAPABILITIES) as Capability[]).filter(name => chosen.includes(name)),
    context_window: numberOf(data, 'context_window'),
    max_output_tokens: numberOf(data, 'max_output_tokens'),
    // The form has no price fields for users who may not change prices.
    ...(data.has(INPUT) ? { pricing: toPricing(data, old) } : {}),
  }
}

function toPricing(data: FormData, old: CustomModel | undefined) {
  const [input, output] = [numberOf(data, INPUT), numberOf(data, OUTPUT)]
  if (input === null && output === null) return null
  if (input === null || output === null) {
    const message = 'Fill in both prices, or neither if the price is unknown. 0 means free.'
    throw new ApiError('page_error', message, { status: 0, param: input === null ? INPUT : OUTPUT })
  }
  return { ...old?.pricing, input_usd_per_mtok: input, output_usd_per_mtok: output }
}

function numberOf(data: FormData, name: string): number | null {
  const text = textOf(data, name)
  return text === '' ? null : Number(text)
}
