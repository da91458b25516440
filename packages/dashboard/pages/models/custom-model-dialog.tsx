import { useQueryClient } from '@tanstack/react-query'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { CAPABILITIES, type Capability, customModelsKey } from './model-calls.ts'

export function CustomModelDialog({ onClose }: { onClose: () => void }) {
  const { environment } = usePlace()
  const client = useQueryClient()
  const form = useForm(
    data =>
      answerOf(
        api.POST('/v1/environments/{envId}/custom-models', {
          params: { path: { envId: environment.id } },
          body: toBody(data),
        }),
      ),
    () => {
      void client.invalidateQueries({ queryKey: customModelsKey(environment.id) })
      onClose()
    },
  )
  return (
    <Dialog title="Add a model" shape="at-side" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label="Model"
          name="model"
          required
          maxLength={256}
          data-focus
          placeholder="openai/my-fine-tune"
          hint="The provider, a slash, and the provider's name for it. One of the catalogue gets another price by this."
          problem={form.problemOf('model')}
        />
        <fieldset>
          <legend className="field-label">It can</legend>
          <div className="choices">
            {Object.entries(CAPABILITIES).map(([name, label]) => (
              <label key={name} className="choice">
                <input type="checkbox" name="capabilities" value={name} defaultChecked={name === 'chat'} />
                {label}
              </label>
            ))}
          </div>
          {form.problemOf('capabilities') !== undefined && (
            <p className="problem">{form.problemOf('capabilities')}</p>
          )}
        </fieldset>
        <TextField
          label="Context, in tokens"
          name="context_window"
          type="number"
          min={1}
          isOptional
          problem={form.problemOf('context_window')}
        />
        <PriceFields problemOf={form.problemOf} />
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isPending={form.isPending}>
            Add model
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function PriceFields({ problemOf }: { problemOf: (name: string) => string | undefined }) {
  const priceObjection = useObjection('admin')
  return priceObjection === undefined ? (
    <>
      <TextField
        label="Input, US dollars per million tokens"
        name="input"
        type="number"
        min={0}
        step="any"
        isOptional
        hint="Without a price it is unpriced, which no budget allows."
        problem={problemOf('pricing.input_usd_per_mtok')}
      />
      <TextField
        label="Output, US dollars per million tokens"
        name="output"
        type="number"
        min={0}
        step="any"
        isOptional
        problem={problemOf('pricing.output_usd_per_mtok')}
      />
    </>
  ) : (
    <p className="muted small">Prices: {priceObjection}</p>
  )
}

function toBody(data: FormData) {
  const [input, output, context] = ['input', 'output', 'context_window'].map(name => textOf(data, name))
  const chosen = data.getAll('capabilities')
  const hasPrice = (input ?? '') !== '' || (output ?? '') !== ''
  return {
    model: textOf(data, 'model'),
    capabilities: (Object.keys(CAPABILITIES) as Capability[]).filter(name => chosen.includes(name)),
    ...((context ?? '') === '' ? {} : { context_window: Number(context) }),
    ...(hasPrice
      ? { pricing: { input_usd_per_mtok: Number(input ?? 0), output_usd_per_mtok: Number(output ?? 0) } }
      : {}),
  }
}
