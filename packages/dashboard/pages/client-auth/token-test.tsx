import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { DescriptionList } from '../../controls/description-list.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextAreaField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { toDateTime } from '../../format/times.ts'
import { useDisabledReason, useEnvironment } from '../../session/environment-context.tsx'
import { type Claims, readClaims } from './read-claims.ts'

type Verdict = Resource<'FederatedAuthTest'> & { readonly claims: Claims | undefined }

/** Tests a pasted token. Nothing is stored, and no token is issued. */
export function TokenTest() {
  const { project, organization } = useEnvironment()
  const disabledReason = useDisabledReason('admin')
  const [verdict, setVerdict] = useState<Verdict>()
  const form = useForm(async data => {
    const token = textOf(data, 'identity_token')
    setVerdict(undefined)
    const path = { projectId: project.id }
    const answer = await unwrap(
      api.POST('/v1/projects/{projectId}/federated-auth/test', {
        params: { path },
        body: { identity_token: token },
      }),
    )
    return { ...answer, claims: readClaims(token) }
  }, setVerdict)
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <TextAreaField
        label="A token from one of your users"
        name="identity_token"
        rows={4}
        required
        placeholder="eyJ…"
        hint="It is checked and then forgotten."
        problem={form.problemOf('identity_token')}
      />
      <div>
        <Button type="submit" isPending={form.isPending} disabledReason={disabledReason}>
          Test token
        </Button>
      </div>
      <FormProblem error={form.error} />
      {verdict !== undefined && (
        <div role="status" className="stack">
          <div className={`notice ${verdict.valid ? 'good' : 'bad'}`}>
            {verdict.valid
              ? `Valid: ${verdict.end_user_id} would get a client token${verdict.plan === null ? '' : ` on the plan ${verdict.plan}`}.`
              : `Refused: ${verdict.reason}`}
          </div>
          {verdict.claims !== undefined && (
            <DescriptionList
              items={[
                ['iss', verdict.claims.iss],
                ['aud', verdict.claims.aud],
                ['azp', verdict.claims.azp],
                ['sub', verdict.claims.sub],
                ['Issued', toTime(verdict.claims.iat, organization.time_zone)],
                ['Expires', toTime(verdict.claims.exp, organization.time_zone)],
              ]}
            />
          )}
        </div>
      )}
    </form>
  )
}

function toTime(seconds: number | undefined, timeZone: string): string | undefined {
  return seconds === undefined ? undefined : toDateTime(seconds * 1_000, timeZone)
}
