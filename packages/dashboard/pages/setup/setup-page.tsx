import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { workspaceQuery } from '../../api/workspace.ts'
import { Button } from '../../controls/button.tsx'
import { ErrorPanel, FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { NewPasswordField } from '../../controls/new-password-field.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { CardLayout } from '../../layout/card-layout.tsx'
import { signInOptionsQuery } from '../../session/queries.ts'
import { useSetupKeys } from '../../session/setup-keys.ts'

export function SetupPage() {
  const options = useQuery(signInOptionsQuery)
  if (options.isPending) {
    return (
      <CardLayout title="Set up Rideau">
        <Skeleton />
      </CardLayout>
    )
  }
  if (options.isError) {
    return (
      <CardLayout title="Set up Rideau">
        <ErrorPanel what="Set-up" error={options.error} onRetry={() => void options.refetch()} />
      </CardLayout>
    )
  }
  if (!options.data.setup_open) {
    return (
      <CardLayout title="Set-up is done" text="This deployment already has an owner.">
        <Link className="button primary" to="/sign-in">
          Sign in
        </Link>
      </CardLayout>
    )
  }
  return <SetupForm />
}

function SetupForm() {
  const { linkToken } = useRouteContext({ from: '__root__' })
  const [isLinkRefused, setLinkRefused] = useState(false)
  const afterSetup = useAfterSetup()
  const form = useForm(async data => {
    const answer = await unwrap(
      api.POST('/v1/setup', {
        body: {
          setup_token: linkToken ?? textOf(data, 'setup_token'),
          email: textOf(data, 'email'),
          password: String(data.get('password')),
          organization: { name: textOf(data, 'organization.name') },
        },
      }),
    ).catch(error => {
      setLinkRefused(error.code === 'setup_closed')
      throw error
    })
    return answer
  }, afterSetup)
  return (
    <CardLayout title="Set up Rideau" text="You become the owner. It takes one step.">
      <form className="form" onSubmit={form.onSubmit}>
        {linkToken === undefined && (
          <TextField
            label="Set-up token"
            name="setup_token"
            required
            hint="The terminal where Rideau started shows a link that contains it."
            problem={form.problemOf('setup_token')}
          />
        )}
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          problem={form.problemOf('email')}
        />
        <NewPasswordField label="Password" name="password" problem={form.problemOf('password')} />
        <TextField
          label="Organization"
          name="organization.name"
          required
          defaultValue="My organization"
          problem={form.problemOf('organization.name')}
        />
        {isLinkRefused ? (
          <div role="alert" className="notice bad">
            This link is not valid. The current one is in the terminal.
          </div>
        ) : (
          <FormProblem error={form.error} />
        )}
        <Button type="submit" variant="primary" isPending={form.isPending}>
          Create and open the playground
        </Button>
      </form>
    </CardLayout>
  )
}

/** Returns what to do after the set-up, whose answer signs the browser in and contains the two keys for the only time. */
function useAfterSetup(): (setup: Resource<'Setup'>) => void {
  const client = useQueryClient()
  const navigate = useNavigate()
  const setupKeys = useSetupKeys()
  return ({ secret_key, management_key, organization, project }) => {
    setupKeys.keep({ secretKey: secret_key.key, managementKey: management_key.key })
    client.removeQueries({ queryKey: signInOptionsQuery.queryKey })
    client.removeQueries({ queryKey: workspaceQuery.queryKey })
    void navigate({
      to: '/o/$org/$project/$environment/playground',
      params: { org: organization.slug, project: project.slug, environment: 'development' },
      replace: true,
    })
  }
}
