import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toApiError } from '../../api/api-error.ts'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextField } from '../../controls/field.tsx'
import type { VersionHeader } from '../../controls/use-form.ts'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { DryRunResult } from './dry-run-result.tsx'
import {
  type Alias,
  aliasesKey,
  type CatalogModel,
  type DryRun,
  STRATEGIES,
  type Strategy,
} from './model-calls.ts'
import { NEW_ROW, type TargetRow, TargetRows } from './target-rows.tsx'

interface AliasDialogProps {
  /** The alias to change, or undefined to create one. */
  readonly alias: Alias | undefined
  readonly models: readonly CatalogModel[]
  readonly onClose: () => void
}

export function AliasDialog({ alias, models, onClose }: AliasDialogProps) {
  const { environment } = useEnvironment()
  const client = useQueryClient()
  const [name, setName] = useState(alias?.alias ?? '')
  const [strategy, setStrategy] = useState<Strategy>(alias?.strategy ?? 'priority')
  const [rows, setRows] = useState<readonly TargetRow[]>(alias?.targets.map(toRow) ?? [NEW_ROW])
  const targets = rows.map(({ model, weight, timeoutMs, maxRetries }) => ({
    model: model.trim(),
    weight: strategy === 'weighted' ? Number(weight) : null,
    timeout_ms: timeoutMs === '' ? null : Number(timeoutMs),
    max_retries: maxRetries === '' ? null : Number(maxRetries),
  }))
  const dryRun = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST('/v1/environments/{envId}/model-aliases/dry-run', {
          params: { path: { envId: environment.id } },
          body: { alias: name === '' ? 'new' : name, strategy, targets },
        }),
      ),
  })
  const form = useForm(
    (data, header) =>
      saveAlias(environment.id, alias, { alias: textOf(data, 'alias'), strategy, targets }, header),
    () => {
      void client.invalidateQueries({ queryKey: aliasesKey(environment.id) })
      onClose()
    },
  )
  const change = (next: readonly TargetRow[]): void => {
    setRows(next)
    dryRun.reset()
  }
  return (
    <Dialog
      title={alias === undefined ? 'Create an alias' : `Change ${alias.alias}`}
      variant="wide"
      onClose={onClose}
    >
      <form className="form" onSubmit={form.onSubmit}>
        {alias === undefined && (
          <TextField
            label="Name"
            name="alias"
            required
            maxLength={128}
            data-focus
            value={name}
            onChange={event => setName(event.target.value)}
            hint="The model that requests name, such as fast."
            problem={form.problemOf('alias')}
          />
        )}
        <StrategyField
          strategy={strategy}
          onChange={next => {
            setStrategy(next)
            dryRun.reset()
          }}
        />
        <TargetRows rows={rows} strategy={strategy} onChange={change} />
        <datalist id="models-by-name">
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <AliasEnd
          verb={alias === undefined ? 'Create alias' : 'Save'}
          disabledReason={
            rows.some(({ model }) => model.trim() === '') ? 'Every target needs a model.' : undefined
          }
          dryRun={dryRun}
          form={form}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

function toRow(target: Alias['targets'][number], id: number): TargetRow {
  const { model, weight, timeout_ms, max_retries } = target
  return {
    id,
    model,
    weight: String(weight ?? 1),
    timeoutMs: String(timeout_ms ?? ''),
    maxRetries: String(max_retries ?? ''),
  }
}

interface AliasEndProps {
  readonly verb: string
  /** Why the dry run is disabled. */
  readonly disabledReason: string | undefined
  readonly dryRun: {
    readonly data: DryRun | undefined
    readonly error: Error | null
    readonly isPending: boolean
    mutate(): void
  }
  readonly form: Pick<ReturnType<typeof useForm>, 'error' | 'isPending'>
  readonly onClose: () => void
}

function AliasEnd({ verb, disabledReason, dryRun, form, onClose }: AliasEndProps) {
  return (
    <>
      <div role="status">{dryRun.data !== undefined && <DryRunResult result={dryRun.data} />}</div>
      <FormProblem error={form.error ?? (dryRun.error === null ? undefined : toApiError(dryRun.error))} />
      <div className="form-end">
        <Button onClick={() => dryRun.mutate()} isPending={dryRun.isPending} disabledReason={disabledReason}>
          Which would serve?
        </Button>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={form.isPending}>
          {verb}
        </Button>
      </div>
    </>
  )
}

type NewAlias = Pick<Resource<'NewModelAliasInput'>, 'alias' | 'strategy' | 'targets'>

async function saveAlias(
  envId: string,
  old: Alias | undefined,
  body: NewAlias,
  header: VersionHeader,
): Promise<void> {
  if (old === undefined) {
    await unwrap(api.POST('/v1/environments/{envId}/model-aliases', { params: { path: { envId } }, body }))
    return
  }
  const { strategy, targets } = body
  const params = { path: { id: old.id }, header }
  await unwrap(api.PATCH('/v1/model-aliases/{id}', { params, body: { strategy, targets } }))
}

interface StrategyFieldProps {
  readonly strategy: Strategy
  readonly onChange: (strategy: Strategy) => void
}

function StrategyField({ strategy, onChange }: StrategyFieldProps) {
  return (
    <SelectField
      label="Which target answers"
      value={strategy}
      onChange={event => onChange(event.target.value as Strategy)}
      hint={STRATEGIES[strategy].description}
    >
      {Object.entries(STRATEGIES).map(([value, strategy]) => (
        <option key={value} value={value}>
          {strategy.name}
        </option>
      ))}
    </SelectField>
  )
}
