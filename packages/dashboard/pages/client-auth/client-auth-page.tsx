import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { Facts } from '../../controls/facts.tsx'
import { PageHead } from '../../controls/page-head.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { useObjection, usePlace, useWorkspace } from '../../session/place-context.tsx'
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx'
import { deviceAuthQuery, federatedAuthQuery, projectQuery } from './client-auth-calls.ts'
import { DeviceDialog } from './device-dialog.tsx'
import { IdentityDialog } from './identity-dialog.tsx'
import { OriginsForm } from './origins-form.tsx'
import { toPlatformSnippets } from './platform-snippets.ts'
import { TokenTest } from './token-test.tsx'

type Open = 'identity' | 'device' | 'remove-identity' | 'remove-device'

export function ClientAuthPage() {
  const { project, environment } = usePlace()
  const { gateway_url: gatewayUrl } = useWorkspace()
  const objection = useObjection('admin')
  const client = useQueryClient()
  const identity = useQuery(federatedAuthQuery(project.id))
  const device = useQuery(deviceAuthQuery(project.id))
  const settings = useQuery(projectQuery(project.id))
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  if (identity.isPending || device.isPending || settings.isPending) {
    return (
      <>
        <PageHead title="Client auth" answer="How the users of your app get tokens of their own." />
        <Skeleton rows={8} />
      </>
    )
  }
  const failed = [identity, device, settings].find(({ isError }) => isError)
  if (failed !== undefined || !identity.isSuccess || !device.isSuccess || !settings.isSuccess) {
    const error = failed?.error
    return <ErrorPanel what="Client auth" error={error} onRetry={() => void failed?.refetch()} />
  }
  const model = environment.name === 'development' ? 'sandbox/echo' : 'openai/gpt-4o-mini'
  const snippets = toPlatformSnippets({ gatewayUrl, model })
  const removal = open === 'remove-identity' ? 'federated-auth' : 'device-auth'
  return (
    <>
      <PageHead
        title="Client auth"
        answer={
          <>
            {toAnswer(identity.data !== null, device.data !== null)}{' '}
            <span className="chip">both environments</span>
          </>
        }
      />
      <Step
        title="1. Who signs in"
        state={identity.data === null ? undefined : 'on'}
        actions={
          <Actions
            what="identity provider"
            isOn={identity.data !== null}
            objection={objection}
            onEdit={() => setOpen('identity')}
            onRemove={() => setOpen('remove-identity')}
          />
        }
      >
        {identity.data === null ? (
          <p className="muted">
            Rideau takes the tokens of your identity provider. Without one, your backend names the user by a
            secret key.
          </p>
        ) : (
          <>
            <Facts
              facts={[
                ['Issuer', <code key="issuer">{[identity.data.issuer].flat().join(', ')}</code>],
                ['Audiences', identity.data.audiences?.join(', ')],
                ['Authorized parties', identity.data.authorized_parties?.join(', ')],
                ['User’s id', <code key="id">{identity.data.user_id_claim}</code>],
                ['Plan', identity.data.plan_claim ?? undefined],
                ['Algorithms', identity.data.algorithms.join(', ')],
              ]}
            />
            <TokenTest />
          </>
        )}
      </Step>
      <Step
        title="2. Devices without sign-in"
        state={device.data === null ? undefined : 'on'}
        actions={
          <Actions
            what="devices"
            isOn={device.data !== null}
            objection={objection}
            onEdit={() => setOpen('device')}
            onRemove={() => setOpen('remove-device')}
          />
        }
      >
        {device.data === null ? (
          <p className="muted">
            Apple’s App Attest and Android’s key attestation prove that your own app runs on a genuine device.
          </p>
        ) : (
          <Facts
            facts={[
              ['iOS', device.data.ios?.bundle_ids.join(', ')],
              ['Team', device.data.ios?.team_id],
              ['Attested for', device.data.ios?.environment],
              ['Android', device.data.android?.package_names.join(', ')],
            ]}
          />
        )}
      </Step>
      <Step title="3. Browsers">
        <OriginsForm project={settings.data} key={settings.data.updated_at} />
      </Step>
      <Step title="4. Call it from your app">
        <SnippetTabs snippets={snippets} shown={snippets} />
      </Step>
      {open === 'identity' && <IdentityDialog current={identity.data} onClose={close} />}
      {open === 'device' && <DeviceDialog current={device.data} onClose={close} />}
      {(open === 'remove-identity' || open === 'remove-device') && (
        <ConfirmDialog
          title={open === 'remove-identity' ? 'Remove the identity provider' : 'Turn devices off'}
          name={project.name}
          action="Remove"
          send={() =>
            answerOf(
              api.DELETE(`/v1/projects/{projectId}/${removal}`, {
                params: { path: { projectId: project.id } },
              }),
            )
          }
          onDone={() => void client.invalidateQueries({ queryKey: [removal, project.id] })}
          onClose={close}
        >
          <p>No new token is given that way. Tokens that were given already end within an hour.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function toAnswer(hasIdentity: boolean, hasDevices: boolean): string {
  if (hasIdentity && hasDevices) return 'Users get tokens by your identity provider and by their device.'
  if (hasIdentity) return 'Users get tokens by your identity provider.'
  if (hasDevices) return 'Users get tokens by their device.'
  return 'Only your backend can give users tokens.'
}

interface StepProps {
  readonly title: string
  readonly state?: string | undefined
  readonly actions?: ReactNode
  readonly children: ReactNode
}

function Step({ title, state, actions, children }: StepProps) {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <span className="row">
          <h2>{title}</h2>
          {state !== undefined && <span className="chip good">{state}</span>}
        </span>
        {actions}
      </header>
      <div className="padded stack">{children}</div>
    </section>
  )
}

interface ActionsProps {
  readonly what: string
  readonly isOn: boolean
  readonly objection: string | undefined
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function Actions({ what, isOn, objection, onEdit, onRemove }: ActionsProps) {
  return (
    <span className="row">
      <Button small look={isOn ? 'plain' : 'primary'} objection={objection} onClick={onEdit}>
        {isOn ? `Change ${what}` : `Set up ${what}`}
      </Button>
      {isOn && (
        <Button small look="danger" objection={objection} onClick={onRemove} aria-label={`Remove ${what}`}>
          Remove
        </Button>
      )}
    </span>
  )
}
