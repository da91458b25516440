import { useState } from 'react'
import { answerOf, api, type Resource } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { Facts } from '../../controls/facts.tsx'
import { AreaField } from '../../controls/field.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { toDateTime } from '../../format/times.ts'
import { useObjection, usePlace } from '../../session/place-context.tsx'
import { type Claims, readClaims } from './read-claims.ts'

type Verdict = Resource<'FederatedAuthTest'> & { readonly claims: Claims | undefined }

/** What a pasted token would give. Nothing is stored, and no token is issued. */
export function TokenTest() {
  const { project, organization } = usePlace()
  const objection = useObjection('admin')
  const [verdict, setVerdict] = useState<Verdict>()
  const form = useForm(async data => {
    const token = textOf(data, 'identity_token')
    setVerdict(undefined)
    const path = { projectId: project.id }
    const answer = await answerOf(
      api.POST('/v1/projects/{projectId}/federated-auth/test', {
        params: { path },
        body: { identity_token: token },
      }),
    )
    return { ...answer, claims: readClaims(token) }
  }, setVerdict)
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <AreaField
        label="A token of one of your users"
        name="identity_token"
        rows={4}
        required
        placeholder="eyJ…"
        hint="It is checked and then forgotten."
        problem={form.problemOf('identity_token')}
      />
      <div>
        <Button type="submit" isPending={form.isPending} objection={objection}>
          Test token
        </Button>
      </div>
      <FormProblem error={form.error} />
      {verdict !== undefined && (
        <div role="status" className="stack">
          <div className={`notice ${verdict.valid ? 'good' : 'bad'}`}>
            {verdict.valid
              ? `Valid: it would give a client token to ${verdict.end_user_id}${verdict.plan === null ? '' : ` on the plan ${verdict.plan}`}.`
              : `Refused: ${verdict.reason}`}
          </div>
          {verdict.claims !== undefined && (
            <Facts
              facts={[
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
