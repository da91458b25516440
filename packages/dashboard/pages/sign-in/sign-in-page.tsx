import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { workspaceQuery } from '../../api/workspace.ts'
import { CardLayout } from '../../layout/card-layout.tsx'
import { signInOptionsQuery } from '../../session/queries.ts'
import { SignInForm } from '../../session/sign-in-form.tsx'

export function SignInPage() {
  const { next = '/' } = useSearch({ from: '/sign-in' })
  const { data: options } = useQuery(signInOptionsQuery)
  const router = useRouter()
  const client = useQueryClient()
  if (options?.setup_open === true) {
    return (
      <CardLayout
        title="Not set up yet"
        text="No one can sign in, because this deployment has no owner. Open the link in the terminal where it started."
      >
        <Link className="button" to="/setup">
          I have the token
        </Link>
      </CardLayout>
    )
  }
  return (
    <CardLayout title="Sign in">
      <SignInForm
        onDone={() => {
          client.removeQueries({ queryKey: workspaceQuery.queryKey })
          router.history.replace(next)
        }}
      />
      {options?.oidc === true && (
        <a className="button" href="/v1/session/oidc/start">
          Sign in with your organization
        </a>
      )}
      <p className="muted small">
        Lost your password? An owner of your organization can create a reset link.
      </p>
    </CardLayout>
  )
}
