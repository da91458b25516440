import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { CopyButton } from '../../controls/copy-button.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextAreaField, TextField } from '../../controls/field.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'

type Environment = Resource<'Environment'>

export function EnvironmentSettingsPage() {
  const { environment, project } = useEnvironment()
  const queryKey = ['environment', environment.id]
  const path = { envId: environment.id }
  const read = () => unwrap(api.GET('/v1/environments/{envId}', { params: { path } }))
  const stored = useQuery({
    queryKey,
    queryFn: read,
  })
  return (
    <>
      <PageHeader
        title="Environment settings"
        description={`How the ${environment.name} environment of ${project.name} handles requests, and what it keeps of them.`}
      />
      {stored.isPending && <Skeleton rows={8} />}
      {stored.isError && (
        <ErrorPanel what="Settings" error={stored.error} onRetry={() => void stored.refetch()} />
      )}
      {stored.isSuccess && (
        <EditForm key={environment.id} record={stored.data} read={read}>
          {begun => <SettingsForm stored={begun} />}
        </EditForm>
      )}
      <Ids />
    </>
  )
}

/** The ids by which the API and its guides name this environment and its project. */
function Ids() {
  const { environment, project } = useEnvironment()
  return (
    <section className="panel narrow" aria-labelledby="ids">
      <header>
        <h2 id="ids">For the API</h2>
      </header>
      <div className="stack padded">
        {(
          [
            ['Environment id', environment.id],
            ['Project id', project.id],
          ] as const
        ).map(([name, id]) => (
          <div key={name} className="secret">
            <span>
              {name}
              <br />
              <code>{id}</code>
            </span>
            <CopyButton text={id} label={`Copy ${name.toLowerCase()}`} />
          </div>
        ))}
      </div>
    </section>
  )
}

function SettingsForm({ stored }: { stored: Environment }) {
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const [kept, setKept] = useState(stored.log_capture)
  const [capture, setCapture] = useState(stored.log_capture)
  const [isSure, setSure] = useState(false)
  const path = { envId: stored.id }
  const form = useForm(
    (data, header) =>
      unwrap(api.PATCH('/v1/environments/{envId}', { params: { path, header }, body: toChange(data) })),
    changed => {
      client.setQueryData(['environment', stored.id], changed)
      setKept(changed.log_capture)
    },
  )
  const needsConsent = stored.name === 'production' && kept === 'metadata' && capture === 'full'
  const isDisabled = disabledReason !== undefined
  return (
    <section className="panel padded narrow" aria-label="Settings">
      <form className="form" onSubmit={form.onSubmit}>
        <CaptureFields
          name={stored.name}
          capture={capture}
          isDisabled={isDisabled}
          sure={needsConsent ? isSure : undefined}
          onChoose={chosen => {
            setCapture(chosen)
            setSure(false)
          }}
          onSure={setSure}
        />
        <TextField
          label="Days to keep the log"
          name="log_retention_days"
          type="number"
          min={1}
          max={365}
          required
          disabled={isDisabled}
          defaultValue={stored.log_retention_days}
          hint="Default: 30. Older requests are removed within a day; usage and cost stay."
          problem={form.problemOf('log_retention_days')}
        />
        <TextAreaField
          label="Allowed models"
          name="allowed_models"
          isOptional
          disabled={isDisabled}
          defaultValue={stored.allowed_models?.join('\n')}
          hint="One per line; provider/* allows every model of a provider. Leave empty to allow every model. Other models fail with model_not_allowed."
          problem={form.error?.param?.startsWith('allowed_models') ? form.error.message : undefined}
        />
        <RequestFields stored={stored} isDisabled={isDisabled} />
        <FormProblem error={form.error} />
        <div className="row">
          <Button
            type="submit"
            variant="primary"
            isPending={form.isPending}
            disabledReason={
              disabledReason ?? (needsConsent && !isSure ? 'Confirm what the log keeps first.' : undefined)
            }
          >
            Save
          </Button>
          <span role="status" className="muted">
            {form.isSaved ? 'Saved.' : ''}
          </span>
        </div>
      </form>
    </section>
  )
}

/** Chooses what the log keeps. Asks for consent if `sure` is given. */
function CaptureFields({
  name,
  capture,
  isDisabled,
  sure,
  onChoose,
  onSure,
}: {
  name: string
  capture: Environment['log_capture']
  isDisabled: boolean
  sure: boolean | undefined
  onChoose: (capture: Environment['log_capture']) => void
  onSure: (isSure: boolean) => void
}) {
  return (
    <>
      <SelectField
        label="What the log keeps"
        name="log_capture"
        value={capture}
        disabled={isDisabled}
        onChange={event => onChoose(event.target.value === 'full' ? 'full' : 'metadata')}
        hint={`Default for ${name}: ${name === 'production' ? 'metadata only' : 'everything'}. Developers and above can read bodies.`}
      >
        <option value="metadata">Metadata only: model, tokens, cost, times</option>
        <option value="full">Everything: also requests and answers</option>
      </SelectField>
      {sure !== undefined && (
        <label className="choice notice warn">
          <input type="checkbox" checked={sure} onChange={event => onSure(event.target.checked)} />
          Keep what users of production write and read
        </label>
      )}
    </>
  )
}

/** Chooses how requests are handled. */
function RequestFields({ stored, isDisabled }: { stored: Environment; isDisabled: boolean }) {
  return (
    <>
      <SelectField
        label="Parameters that a model does not support"
        name="unsupported_params"
        disabled={isDisabled}
        defaultValue={stored.unsupported_params}
        hint="Default: refuse. Dropped parameters are listed in the header X-Rideau-Dropped-Params."
      >
        <option value="refuse">Refuse the request and name them</option>
        <option value="drop">Drop them</option>
      </SelectField>
      <SelectField
        label="When the caller disconnects"
        name="on_client_gone"
        disabled={isDisabled}
        defaultValue={stored.on_client_gone}
        hint="Default: cancel, which also stops the cost where the provider allows it."
      >
        <option value="cancel">Cancel the request</option>
        <option value="drain">Let it finish, for the log</option>
      </SelectField>
      <fieldset disabled={isDisabled}>
        <legend className="field-label">Apps of your users</legend>
        <div className="choices">
          <label className="choice">
            <input
              type="checkbox"
              name="allow_client_passthrough"
              defaultChecked={stored.allow_client_passthrough}
            />
            Client tokens may send a provider’s own parameters and hosted tools, which can cost more
          </label>
          <label className="choice">
            <input
              type="checkbox"
              name="allow_secret_key_in_browser"
              defaultChecked={stored.allow_secret_key_in_browser}
            />
            Secret keys may be used in browsers, where anyone can read them
          </label>
        </div>
      </fieldset>
    </>
  )
}

function toChange(data: FormData) {
  const models = textOf(data, 'allowed_models')
    .split(/[\n,]/)
    .map(item => item.trim())
    .filter(item => item !== '')
  return {
    log_capture: textOf(data, 'log_capture') === 'full' ? 'full' : 'metadata',
    log_retention_days: Number(textOf(data, 'log_retention_days')),
    allowed_models: models.length === 0 ? null : models,
    unsupported_params: textOf(data, 'unsupported_params') === 'drop' ? 'drop' : 'refuse',
    on_client_gone: textOf(data, 'on_client_gone') === 'drain' ? 'drain' : 'cancel',
    allow_client_passthrough: data.has('allow_client_passthrough'),
    allow_secret_key_in_browser: data.has('allow_secret_key_in_browser'),
  } as const
}
