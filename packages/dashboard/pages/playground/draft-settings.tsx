import type { ChatParams, Model } from '../../../sdk/index.ts'
import { SelectField, TextAreaField, TextField } from '../../controls/field.tsx'
import { useWorkspace } from '../../session/environment-context.tsx'
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx'
import { groupChatModels } from './chat-models.ts'
import type { Draft } from './draft.ts'
import { toRequestSnippets } from './request-snippets.ts'
import { type DraftProblem, EFFORTS, findDraftProblem } from './to-chat-params.ts'

interface DraftSettingsProps {
  readonly draft: Draft
  /** The request that the code shows: the next one, or after Send the one that was sent. */
  readonly params: ChatParams
  readonly models: readonly Model[]
  readonly onChange: (changes: Partial<Draft>) => void
}

/** The model, its parameters, and the same request as code. */
export function DraftSettings({ draft, params, models, onChange }: DraftSettingsProps) {
  const { gateway_url: gatewayUrl, prefixes } = useWorkspace()
  const snippets = toRequestSnippets(params, { gatewayUrl, prefixes })
  const problem = findDraftProblem(draft)
  return (
    <section className="panel padded stack" aria-label="Settings">
      <SelectField
        label="Model"
        value={draft.model}
        onChange={event => onChange({ model: event.target.value })}
      >
        {draft.model === '' && <option value="">none yet</option>}
        <ModelOptions models={models} chosen={draft.model} />
      </SelectField>
      <SelectField
        label="Compare with"
        value={draft.otherModel}
        onChange={event => onChange({ otherModel: event.target.value })}
      >
        <option value="">no other model</option>
        <ModelOptions models={models} chosen={draft.otherModel} />
      </SelectField>
      <TextAreaField
        label="System prompt"
        isOptional
        rows={2}
        value={draft.system}
        onChange={event => onChange({ system: event.target.value })}
      />
      <details>
        <summary>Parameters</summary>
        <Parameters draft={draft} onChange={onChange} />
      </details>
      <details>
        <summary>Tools and schema</summary>
        <Json draft={draft} onChange={onChange} problem={problem} />
      </details>
      {problem !== undefined && (
        <p className="small muted">Correct the JSON of the {problem.field} before you send.</p>
      )}
      <details>
        <summary>The same request as code</summary>
        <SnippetTabs snippets={snippets} shown={snippets} />
      </details>
    </section>
  )
}

type PartProps = Pick<DraftSettingsProps, 'draft' | 'onChange'>

const NUMBERS = [
  { name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 0.1 },
  { name: 'topP', label: 'Top p', min: 0, max: 1, step: 0.05 },
  { name: 'maxOutputTokens', label: 'Output tokens', min: 1, max: undefined, step: 1 },
  { name: 'seed', label: 'Seed', min: undefined, max: undefined, step: 1 },
] as const

function Parameters({ draft, onChange }: PartProps) {
  return (
    <div className="stack">
      <div className="pair">
        {NUMBERS.map(({ name, label, ...bounds }) => (
          <TextField
            key={name}
            label={label}
            placeholder={name === 'maxOutputTokens' ? 'no limit' : 'model default'}
            type="number"
            {...bounds}
            value={draft[name]}
            onChange={event => onChange({ [name]: event.target.value })}
          />
        ))}
      </div>
      <SelectField
        label="Reasoning effort"
        value={draft.reasoningEffort}
        onChange={event => onChange({ reasoningEffort: event.target.value })}
      >
        <option value="">model default</option>
        {EFFORTS.map(effort => (
          <option key={effort} value={effort}>
            {effort}
          </option>
        ))}
      </SelectField>
    </div>
  )
}

function Json({ draft, onChange, problem }: PartProps & { problem: DraftProblem | undefined }) {
  return (
    <div className="stack">
      <TextAreaField
        label="Tools"
        isOptional
        rows={4}
        spellCheck={false}
        value={draft.tools}
        placeholder={'[{"type": "function", "function": {"name": "find_weather"}}]'}
        hint="A JSON list. The playground shows which tools the model calls, and runs none."
        problem={problem?.field === 'tools' ? problem.message : undefined}
        onChange={event => onChange({ tools: event.target.value })}
      />
      <TextAreaField
        label="Response schema"
        isOptional
        rows={4}
        spellCheck={false}
        value={draft.schema}
        placeholder={'{"type": "object", "properties": {…}}'}
        problem={problem?.field === 'schema' ? problem.message : undefined}
        onChange={event => onChange({ schema: event.target.value })}
      />
    </div>
  )
}

/** The chosen model is listed even before the list has been loaded. */
function ModelOptions({ models, chosen }: { models: readonly Model[]; chosen: string }) {
  const groups = groupChatModels(models)
  const isListed = chosen === '' || groups.some(([, ids]) => ids.includes(chosen))
  const all = isListed ? groups : [...groups, ['Chosen', [chosen]] as const]
  return all.map(([name, ids]) => (
    <optgroup key={name} label={name}>
      {ids.map(id => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </optgroup>
  ))
}
