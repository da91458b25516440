import type { ReactNode } from 'react'
import { Button } from '../../controls/button.tsx'
import { DescriptionList } from '../../controls/description-list.tsx'
import type { DeviceAuth, FederatedAuth } from './client-auth-calls.ts'
import { TokenTest } from './token-test.tsx'

export type ClientAuthDialog = 'identity' | 'device' | 'remove-identity' | 'remove-device'

interface SettingStepProps<Setting> {
  /** Null if it is not configured. */
  readonly stored: Setting | null
  readonly disabledReason: string | undefined
  readonly onOpen: (dialog: ClientAuthDialog) => void
}

export function IdentityStep({ stored, disabledReason, onOpen }: SettingStepProps<FederatedAuth>) {
  return (
    <Step
      title="1. Who signs in"
      state={stored === null ? undefined : 'on'}
      actions={
        <Actions
          what="identity provider"
          isOn={stored !== null}
          disabledReason={disabledReason}
          onEdit={() => onOpen('identity')}
          onRemove={() => onOpen('remove-identity')}
        />
      }
    >
      {stored === null ? (
        <p className="muted">
          Rideau accepts the tokens of your identity provider. Without one, your backend identifies each user
          with a secret key.
        </p>
      ) : (
        <>
          <DescriptionList
            items={[
              ['Issuer', <code key="issuer">{[stored.issuer].flat().join(', ')}</code>],
              ['Audiences', stored.audiences?.join(', ')],
              ['Authorized parties', stored.authorized_parties?.join(', ')],
              ['User id', <code key="id">{stored.user_id_claim}</code>],
              ['Plan', stored.plan_claim ?? undefined],
              ['Algorithms', stored.algorithms.join(', ')],
            ]}
          />
          <TokenTest />
        </>
      )}
    </Step>
  )
}

export function DeviceStep({ stored, disabledReason, onOpen }: SettingStepProps<DeviceAuth>) {
  return (
    <Step
      title="2. Devices without sign-in"
      state={stored === null ? undefined : 'on'}
      actions={
        <Actions
          what="devices"
          isOn={stored !== null}
          disabledReason={disabledReason}
          onEdit={() => onOpen('device')}
          onRemove={() => onOpen('remove-device')}
        />
      }
    >
      {stored === null ? (
        <p className="muted">
          Apple’s App Attest and Android’s key attestation prove that your app runs on a genuine device.
        </p>
      ) : (
        <DescriptionList
          items={[
            ['iOS', stored.ios?.bundle_ids.join(', ')],
            ['Team', stored.ios?.team_id],
            ['Attested for', stored.ios?.environment],
            ['Android', stored.android?.package_names.join(', ')],
          ]}
        />
      )}
    </Step>
  )
}

interface StepProps {
  readonly title: string
  readonly state?: string | undefined
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Step({ title, state, actions, children }: StepProps) {
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
  readonly disabledReason: string | undefined
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function Actions({ what, isOn, disabledReason, onEdit, onRemove }: ActionsProps) {
  return (
    <span className="row">
      <Button small variant={isOn ? 'plain' : 'primary'} disabledReason={disabledReason} onClick={onEdit}>
        {isOn ? `Change ${what}` : `Set up ${what}`}
      </Button>
      {isOn && (
        <Button
          small
          variant="danger"
          disabledReason={disabledReason}
          onClick={onRemove}
          aria-label={`Remove ${what}`}
        >
          Remove
        </Button>
      )}
    </span>
  )
}
