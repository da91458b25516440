/** How to configure a common identity provider, in the provider's own terms. */
export interface IdentityPreset {
  readonly id: string
  readonly label: string
  readonly issuer: string
  readonly issuerHint: string
  /** Which of the two settings restricts the tokens to the app. */
  readonly claim: 'audiences' | 'authorized_parties'
  readonly audienceHint: string
}

export const IDENTITY_PRESETS: readonly IdentityPreset[] = [
  {
    id: 'auth0',
    label: 'Auth0',
    issuer: 'https://YOUR_TENANT.auth0.com/',
    issuerHint: 'Your tenant’s domain, with a trailing slash.',
    claim: 'audiences',
    audienceHint: 'The client id of your application.',
  },
  {
    id: 'clerk',
    label: 'Clerk',
    issuer: 'https://YOUR_INSTANCE.clerk.accounts.dev',
    issuerHint: 'The frontend API’s address, under API keys.',
    claim: 'authorized_parties',
    audienceHint: 'The origins of your app, such as https://app.example.com.',
  },
  {
    id: 'cognito',
    label: 'Amazon Cognito',
    issuer: 'https://cognito-idp.REGION.amazonaws.com/POOL_ID',
    issuerHint: 'Fill in the region and the id of the user pool.',
    claim: 'audiences',
    audienceHint: 'The id of the app client.',
  },
  {
    id: 'firebase',
    label: 'Firebase',
    issuer: 'https://securetoken.google.com/YOUR_PROJECT',
    issuerHint: 'Fill in the id of the Firebase project.',
    claim: 'audiences',
    audienceHint: 'The id of the Firebase project.',
  },
  {
    id: 'supabase',
    label: 'Supabase',
    issuer: 'https://YOUR_PROJECT.supabase.co/auth/v1',
    issuerHint: 'The project’s address followed by /auth/v1. It needs asymmetric signing keys.',
    claim: 'audiences',
    audienceHint: 'authenticated, unless you changed it.',
  },
  {
    id: 'other',
    label: 'Another OpenID provider',
    issuer: 'https://',
    issuerHint: 'The iss claim of its tokens, exactly.',
    claim: 'audiences',
    audienceHint: 'The aud claim of the tokens for your app.',
  },
]
