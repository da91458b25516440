/**
 * True if the OIDC issuer of the settings may sign in a person whose identity has this issuer. Discovery requires that an issuer's
 * metadata has the name in the settings, except for Microsoft's, whose name may depend on the person, and where the setting is the
 * address of the metadata.
 */
export function maySignInAs(configured: string, issuer: string): boolean {
  const { href, hostname } = new URL(configured)
  const hasOtherNames = hostname === 'login.microsoftonline.com' || hostname.endsWith('.b2clogin.com')
  if (hasOtherNames || href.includes('/.well-known/')) return true
  return URL.canParse(issuer) && new URL(issuer).href === href
}
