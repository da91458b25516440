import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { Button } from '../../controls/button.tsx'
import { FormProblem } from '../../controls/error-panel.tsx'
import { TextField } from '../../controls/field.tsx'
import { NewPasswordField } from '../../controls/new-password-field.tsx'
import { useForm } from '../../controls/use-form.ts'
import { CardLayout } from '../../layout/card-layout.tsx'
import { useWorkspace } from '../../session/environment-context.tsx'
import { useSignOut } from '../../session/use-sign-out.ts'

/** Returns a password as typed, with the spaces around it. */
function passwordOf(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value : ''
}

export function AccountPage() {
  const { user, organizations } = useWorkspace()
  const signOut = useSignOut()
  const element = useRef<HTMLFormElement>(null)
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/session/password', {
          body: {
            current_password: passwordOf(data, 'current_password'),
            new_password: passwordOf(data, 'new_password'),
          },
        }),
      ),
    () => element.current?.reset(),
  )
  return (
    <CardLayout title="Your account" text={user.email}>
      <ul className="stack" aria-label="Organizations">
        {organizations.map(({ id, slug, name, role }) => (
          <li key={id}>
            <Link className="text-link" to="/o/$org/projects" params={{ org: slug }}>
              {name}
            </Link>{' '}
            <span className="chip">{role}</span>
          </li>
        ))}
      </ul>
      <form className="form" onSubmit={form.onSubmit} ref={element}>
        <h2>Change your password</h2>
        {/* For password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={user.email} />
        <TextField
          label="Current password"
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
          problem={form.problemOf('current_password')}
        />
        <NewPasswordField
          label="New password"
          name="new_password"
          hint="At least 10 characters. This ends all your other sessions."
          problem={form.problemOf('new_password')}
        />
        <FormProblem error={form.error} />
        <p role="status">{form.isSaved ? 'Password changed. You stay signed in here.' : ''}</p>
        <Button type="submit" isPending={form.isPending}>
          Change password
        </Button>
      </form>
      <div className="stack">
        <Button isPending={signOut.isPending} onClick={() => signOut.mutate(true)}>
          Sign out on all devices
        </Button>
        <Link className="button quiet" to="/">
          Back to your environments
        </Link>
      </div>
    </CardLayout>
  )
}
