import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useRouteContext } from '@tanstack/react-router'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { NewPasswordField } from '../../controls/new-password-field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { CardLayout } from '../../layout/card-layout.tsx'

export function ResetPasswordPage() {
  const { linkToken: token } = useRouteContext({ from: '__root__' })
  const client = useQueryClient()
  const navigate = useNavigate()
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/session/password-reset', {
          body: { reset_token: token ?? '', new_password: String(data.get('new_password')) },
        }),
      ),
    () => {
      client.clear()
      void navigate({ to: '/', replace: true })
    },
  )
  if (token === undefined) {
    return (
      <CardLayout
        title="This link is not valid"
        text="It has been used or has expired, or the address is incomplete. Ask an owner for a new one."
      >
        <Link className="button" to="/sign-in">
          Sign in
        </Link>
      </CardLayout>
    )
  }
  return (
    <CardLayout title="Choose a new password" text="It signs you out everywhere else.">
      <form className="form" onSubmit={form.onSubmit}>
        <NewPasswordField
          label="New password"
          name="new_password"
          autoFocus
          problem={form.problemOf('new_password')}
        />
        <FormProblem error={form.error} />
        <Button type="submit" variant="primary" isPending={form.isPending}>
          Save and sign in
        </Button>
      </form>
    </CardLayout>
  )
}
