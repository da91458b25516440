/**
 * The one-time token of a link such as `/setup#token=...`. It is taken out of the address before anything else runs, so that it
 * reaches no history, no referrer and no request; only this page's memory has it.
 */
export function takeLinkToken(location: Location, history: History): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return undefined
  history.replaceState(history.state, '', `${location.pathname}${location.search}`)
  return token === '' ? undefined : token
}
