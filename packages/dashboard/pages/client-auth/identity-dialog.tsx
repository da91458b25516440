import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { SelectField, TextAreaField, TextField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { useEnvironment } from '../../session/environment-context.tsx'
import { type FederatedAuth, federatedAuthQuery, toLines } from './client-auth-calls.ts'
import { IDENTITY_PRESETS } from './identity-presets.ts'

/** Configures where the project's users sign in. The server fetches the provider's keys before it stores anything. */
export function IdentityDialog({ current, onClose }: { current: FederatedAuth | null; onClose: () => void }) {
  const { project } = useEnvironment()
  const client = useQueryClient()
  const [chosenId, setChosenId] = useState(current === null ? 'auth0' : 'other')
  const preset = IDENTITY_PRESETS.find(({ id }) => id === chosenId)
  const claim = current?.authorized_parties != null ? 'authorized_parties' : (preset?.claim ?? 'audiences')
  const form = useForm(
    data =>
      unwrap(
        api.PUT('/v1/projects/{projectId}/federated-auth', {
          params: { path: { projectId: project.id } },
          body: toBody(data, claim, current),
        }),
      ),
    stored => {
      client.setQueryData(federatedAuthQuery(project.id).queryKey, stored)
      onClose()
    },
  )
  const issuer = current === null ? preset?.issuer : [current.issuer].flat().join('\n')
  return (
    <Dialog title="Identity provider" variant="drawer" onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted">
          Your users keep signing in where they do today. Rideau checks the token they get there and issues a
          short-lived one for the gateway.
        </p>
        {current === null && (
          <SelectField
            label="Your users sign in with"
            value={chosenId}
            onChange={event => setChosenId(event.target.value)}
            data-focus
          >
            {IDENTITY_PRESETS.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </SelectField>
        )}
        <div className="form" key={chosenId}>
          <TextAreaField
            label="Issuer"
            name="issuer"
            rows={2}
            required
            defaultValue={issuer}
            hint={preset?.issuerHint}
            problem={form.problemOf('issuer')}
          />
          <TextAreaField
            label={claim === 'audiences' ? 'Audiences' : 'Authorized parties'}
            name={claim}
            rows={2}
            required
            defaultValue={current?.[claim]?.join('\n')}
            hint={preset?.audienceHint}
            problem={form.problemOf(claim)}
          />
          <ClaimFields current={current} problemOf={form.problemOf} />
        </div>
        <FormProblem error={form.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {form.isPending ? 'Checking with the provider…' : 'Check and save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface ClaimFieldsProps {
  readonly current: FederatedAuth | null
  readonly problemOf: (name: string) => string | undefined
}

function ClaimFields({ current, problemOf }: ClaimFieldsProps) {
  return (
    <>
      <TextField
        label="Claim with the user’s id"
        name="user_id_claim"
        defaultValue={current?.user_id_claim ?? 'sub'}
        problem={problemOf('user_id_claim')}
      />
      <TextField
        label="Claim with the plan"
        name="plan_claim"
        isOptional
        defaultValue={current?.plan_claim ?? ''}
        hint="A plan set in Rideau takes precedence."
        problem={problemOf('plan_claim')}
      />
      <TextField
        label="JWKS URL"
        name="jwks_url"
        isOptional
        defaultValue={current?.jwks_url ?? ''}
        hint="Only needed if the provider has no discovery document."
        problem={problemOf('jwks_url')}
      />
    </>
  )
}

function toBody(data: FormData, claim: 'audiences' | 'authorized_parties', current: FederatedAuth | null) {
  const issuers = toLines(textOf(data, 'issuer'))
  const jwksUrl = textOf(data, 'jwks_url')
  const planClaim = textOf(data, 'plan_claim')
  const userClaim = textOf(data, 'user_id_claim')
  return {
    // Settings that the form does not show are kept.
    ...(current === null
      ? {}
      : {
          algorithms: current.algorithms,
          required_claims: current.required_claims,
          clock_tolerance_seconds: current.clock_tolerance_seconds,
          max_token_age_seconds: current.max_token_age_seconds,
        }),
    issuer: issuers.length === 1 ? (issuers[0] ?? '') : issuers,
    [claim]: toLines(textOf(data, claim)),
    ...(jwksUrl === '' ? {} : { jwks_url: jwksUrl }),
    user_id_claim: userClaim === '' ? 'sub' : userClaim,
    ...(planClaim === '' ? {} : { plan_claim: planClaim }),
  }
}
