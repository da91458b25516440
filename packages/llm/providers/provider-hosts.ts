import { PROVIDERS } from './index.ts'

const HOSTS = PROVIDERS.flatMap(({ baseUrl, baseUrlExceptions = [] }) =>
  [baseUrl, ...baseUrlExceptions.map(exception => exception.baseUrl)].flatMap(toHostPattern),
)

/** True for a host of a provider's own base URL, which nobody but the provider runs. */
export function isProviderHost(hostname: string): boolean {
  return HOSTS.some(pattern => pattern.test(hostname))
}

/** A placeholder of the base URL stands for a part of one label. */
function toHostPattern(baseUrl: string | null): RegExp[] {
  const host = /^https:\/\/([^/:]+)(?:\/|$)/.exec(baseUrl ?? '')?.[1]
  if (host === undefined) return []
  const source = host
    .split(/\{\w+\}/)
    .map(part => part.replaceAll('.', '\\.'))
    .join('[a-z0-9-]+')
  return [new RegExp(`^${source}$`)]
}
