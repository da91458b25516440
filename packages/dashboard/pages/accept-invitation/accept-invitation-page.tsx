import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { api, type Resource, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { NewPasswordField } from '../../controls/new-password-field.tsx'
import { Skeleton } from '../../controls/skeleton.tsx'
import { textOf, useForm } from '../../controls/use-form.ts'
import { CardLayout } from '../../layout/card-layout.tsx'

export function AcceptInvitationPage() {
  const { linkToken: token = '' } = useRouteContext({ from: '__root__' })
  const invitation = useQuery({
    queryKey: ['invitation'],
    queryFn: () => unwrap(api.POST('/v1/invitations/lookup', { body: { token } })),
    enabled: token !== '',
    retry: false,
    refetchOnWindowFocus: false,
  })
  if (token === '' || invitation.isError) {
    return (
      <CardLayout
        title="This invitation is not valid"
        text="It has been used or withdrawn or has expired, or the address is incomplete. Ask for a new one."
      />
    )
  }
  if (invitation.isPending) {
    return (
      <CardLayout title="Invitation">
        <Skeleton />
      </CardLayout>
    )
  }
  return <AcceptForm token={token} invitation={invitation.data} />
}

function AcceptForm({ token, invitation }: { token: string; invitation: Resource<'InvitationDetails'> }) {
  const { organization, role, email } = invitation
  const client = useQueryClient()
  const navigate = useNavigate()
  const form = useForm(
    async data => {
      const password = String(data.get('password'))
      const name = textOf(data, 'name')
      await unwrap(
        api.POST('/v1/invitations/accept', {
          body: { token, password, ...(name === '' ? {} : { name }) },
        }),
      )
      await unwrap(api.POST('/v1/session', { body: { email, password } }))
    },
    () => {
      client.clear()
      void navigate({ to: '/', replace: true })
    },
  )
  return (
    <CardLayout
      title={`Join ${organization.name}`}
      text={`You have been invited as ${role} with the e-mail ${email}.`}
    >
      <form className="form" onSubmit={form.onSubmit}>
        <TextField label="Your name" name="name" autoComplete="name" isOptional />
        {/* Password managers store the password under this address. */}
        <input type="hidden" autoComplete="username" value={email} readOnly />
        <NewPasswordField
          label="Password"
          name="password"
          hint="At least 10 characters, or your existing password if this e-mail already has an account."
          problem={form.problemOf('password')}
        />
        <FormProblem error={form.error} />
        <Button type="submit" variant="primary" isPending={form.isPending}>
          Join
        </Button>
      </form>
    </CardLayout>
  )
}
