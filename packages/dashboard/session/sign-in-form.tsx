import { api, unwrap } from '../api/client.ts'
import { Button } from '../controls/button.tsx'
import { FormProblem } from '../controls/error-panel.tsx'
import { TextField } from '../controls/field.tsx'
import { textOf, useForm } from '../controls/use-form.ts'

/** Asks for e-mail and password. `email` fills the first field if it is known who was signed in. */
export function SignInForm({ email = '', onDone }: { email?: string; onDone: () => void }) {
  const form = useForm(
    data =>
      unwrap(
        api.POST('/v1/session', {
          body: { email: textOf(data, 'email'), password: String(data.get('password')) },
        }),
      ),
    onDone,
  )
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        required
        defaultValue={email}
        data-focus={email === '' || undefined}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        data-focus={email !== '' || undefined}
      />
      <FormProblem error={form.error} />
      <Button type="submit" variant="primary" isPending={form.isPending}>
        Sign in
      </Button>
    </form>
  )
}
