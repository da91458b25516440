import { QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query-client.ts'
import { createPages } from './router.tsx'
import { takeLinkToken } from './session/link-token.ts'
import { SignedOut, SignedOutContext } from './session/signed-out.ts'
import { applyTheme, readTheme } from './session/theme.ts'
import { SIGNED_OUT_KEY } from './session/use-sign-out.ts'
import './styles/index.css'

// This runs first, so that no other code sees the token of the link.
const linkToken = takeLinkToken(location, history)
applyTheme(readTheme())

const signedOut = new SignedOut()
const client = createQueryClient(() => {
  // Without a loaded workspace the route redirects to the sign-in page, so no dialog is needed.
  if (client.getQueryData(['workspace']) !== undefined) signedOut.set(true)
})
const router = createPages({ client, linkToken })
// Loads the code of the page while the bootstrap call runs, not after it.
const routes: Readonly<Record<string, AnyRoute>> = router.routesById
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  void routes[routeId]?.options.component?.preload?.()
}
addEventListener('storage', ({ key }) => {
  if (key === SIGNED_OUT_KEY) location.assign('/sign-in')
})

const element = document.getElementById('app')
if (element === null) throw new Error('the document has no #app')
createRoot(element).render(
  <StrictMode>
    <SignedOutContext value={signedOut}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </SignedOutContext>
  </StrictMode>,
)
