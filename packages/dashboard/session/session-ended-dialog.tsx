import { useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { workspaceQuery } from '../api/workspace.ts'
import { Dialog } from '../controls/dialog.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { SignedOutContext, useIsSignedOut } from './signed-out.ts'

/** Opens over the page once the session has ended, so that nothing that was typed is lost. */
export function SessionEndedDialog() {
  const signedOut = useContext(SignedOutContext)
  const client = useQueryClient()
  const email = client.getQueryData(workspaceQuery.queryKey)?.user.email
  if (!useIsSignedOut()) return null
  return (
    <Dialog title="Your session has ended" onClose={() => {}}>
      <p>Sign in again to continue. What you typed on this page is still there.</p>
      <SignInForm
        {...(email === undefined ? {} : { email })}
        onDone={async () => {
          // A late answer to a call that was sent without a session must not open the dialog again.
          await client.cancelQueries()
          signedOut.set(false)
          void client.invalidateQueries()
        }}
      />
    </Dialog>
  )
}
