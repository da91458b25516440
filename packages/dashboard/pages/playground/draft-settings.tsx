import type { Model } from '../../../sdk/index.ts'
import { CodeBlock } from '../../controls/code-block.tsx'
import { AreaField, SelectField, TextField } from '../../controls/field.tsx'
import { useWorkspace } from '../../session/place-context.tsx'
import { toSnippets } from '../../snippets/snippets.ts'
import type { Draft } from './draft.ts'

interface DraftSettingsProps {
  readonly draft: Draft
  readonly models: readonly Model[]
  readonly onChange: (changes: Partial<Draft>) => void
}

/** The model, its parameters, and the same request as code. */
export function DraftSettings({ draft, models, onChange }: DraftSettingsProps) {
  const { gateway_url: gatewayUrl, prefixes } = useWorkspace()
  const groups = groupModels(models, draft.model)
  const [curl] = toSnippets({
    gatewayUrl,
    prefixes,
    key: '$RIDEAU_KEY',
    model: draft.model,
    prompt: draft.prompt === '' ? 'Hello' : draft.prompt,
  })
  return (
    <section className="panel padded stack" aria-label="Settings">
      <SelectField
        label="Model"
        value={draft.model}
        onChange={event => onChange({ model: event.target.value })}
      >
        {groups.map(([name, ids]) => (
          <optgroup key={name} label={name}>
            {ids.map(id => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </optgroup>
        ))}
      </SelectField>
      <AreaField
        label="System prompt"
        isOptional
        rows={2}
        value={draft.system}
        onChange={event => onChange({ system: event.target.value })}
      />
      <div className="pair">
        <TextField
          label="Temperature"
          placeholder="the model's"
          type="number"
          min={0}
          max={2}
          step={0.1}
          value={draft.temperature}
          onChange={event => onChange({ temperature: event.target.value })}
        />
        <TextField
          label="Output tokens"
          placeholder="no bound"
          type="number"
          min={1}
          step={1}
          value={draft.maxOutputTokens}
          onChange={event => onChange({ maxOutputTokens: event.target.value })}
        />
      </div>
      <details>
        <summary>The same from code</summary>
        <CodeBlock
          text={(curl?.text ?? '').replace(
            "'authorization: Bearer $RIDEAU_KEY'",
            '"authorization: Bearer $RIDEAU_KEY"',
          )}
          label="curl"
        />
      </details>
    </section>
  )
}

/** Aliases first, then providers by name. The chosen model is listed even before the list is there. */
function groupModels(models: readonly Model[], chosen: string): [name: string, ids: string[]][] {
  const groups = new Map<string, string[]>()
  const add = (name: string, id: string): void => void groups.set(name, [...(groups.get(name) ?? []), id])
  for (const { id, kind, provider, capabilities } of models) {
    if (kind === 'alias') add('Aliases', id)
    else if (capabilities.includes('chat')) add(provider ?? 'Other', id)
  }
  if (![...groups.values()].flat().includes(chosen)) add('Chosen', chosen)
  return [...groups].sort(
    ([a], [b]) => Number(b === 'Aliases') - Number(a === 'Aliases') || a.localeCompare(b),
  )
}
