import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EditForm } from '../../controls/edit-form.tsx'
import { ErrorPanel } from '../../controls/error-panel.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { useDisabledReason, useEnvironment, useWorkspace } from '../../session/environment-context.tsx'
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx'
import { deviceAuthQuery, federatedAuthQuery, getProject, projectQuery } from './client-auth-calls.ts'
import { type ClientAuthDialog, DeviceStep, IdentityStep, Step } from './client-auth-steps.tsx'
import { DeviceDialog } from './device-dialog.tsx'
import { IdentityDialog } from './identity-dialog.tsx'
import { OriginsForm } from './origins-form.tsx'
import { toPlatformSnippets } from './platform-snippets.ts'
import { RemoveAuthDialog } from './remove-auth-dialog.tsx'

export function ClientAuthPage() {
  const { project, environment } = useEnvironment()
  const { gateway_url: gatewayUrl } = useWorkspace()
  const disabledReason = useDisabledReason('admin')
  const identity = useQuery(federatedAuthQuery(project.id))
  const device = useQuery(deviceAuthQuery(project.id))
  const settings = useQuery(projectQuery(project.id))
  const [open, setOpen] = useState<ClientAuthDialog>()
  const close = (): void => setOpen(undefined)
  if (identity.isPending || device.isPending || settings.isPending) {
    return (
      <>
        <PageHeader title="Client auth" description="How your app’s users get their own tokens." />
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
  return (
    <>
      <PageHeader
        title="Client auth"
        description={
          <>
            {toDescription(identity.data !== null, device.data !== null)}{' '}
            <span className="chip">both environments</span>
          </>
        }
      />
      <IdentityStep stored={identity.data} disabledReason={disabledReason} onOpen={setOpen} />
      <DeviceStep stored={device.data} disabledReason={disabledReason} onOpen={setOpen} />
      <Step title="3. Browsers">
        <EditForm key={project.id} record={settings.data} read={() => getProject(project.id)}>
          {stored => <OriginsForm project={stored} />}
        </EditForm>
      </Step>
      <Step title="4. Call it from your app">
        <SnippetTabs snippets={snippets} shown={snippets} />
      </Step>
      {open === 'identity' && <IdentityDialog current={identity.data} onClose={close} />}
      {open === 'device' && <DeviceDialog current={device.data} onClose={close} />}
      {(open === 'remove-identity' || open === 'remove-device') && (
        <RemoveAuthDialog what={open} onClose={close} />
      )}
    </>
  )
}

function toDescription(hasIdentity: boolean, hasDevices: boolean): string {
  if (hasIdentity && hasDevices) return 'Users get tokens through your identity provider and their device.'
  if (hasIdentity) return 'Users get tokens through your identity provider.'
  if (hasDevices) return 'Users get tokens through their device.'
  return 'Only your backend can give users tokens.'
}
