import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'

/** `{name}` in a provider's address stands for the credential's option of that name. */
const PLACEHOLDER = /\{([a-z_]+)\}/g
/** What one place between two dots of a host's name can be: an option can never move a request to another host. */
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * The address that a credential's requests go to: its own (`own`), else the provider's with the credential's options
 * filled in. Throws a RangeError where an option is missing or unfit: parseOptions has refused such a credential.
 */
export function toBaseUrl(
  provider: Pick<Provider, 'baseUrl' | 'baseUrlExceptions'>,
  own: string | null | undefined,
  options: JsonObject | undefined,
): string {
  if (own !== null && own !== undefined) return own
  const exception = provider.baseUrlExceptions?.find(({ option, value }) => options?.[option] === value)
  const template = exception?.baseUrl ?? provider.baseUrl ?? ''
  if (!template.includes('{')) return template
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = options?.[name]
    if (typeof value !== 'string' || !isAddressPart(provider, name, value)) {
      throw new RangeError(`the option ${name} does not fit into the provider's address`)
    }
    return encodeURIComponent(value)
  })
}

/**
 * The provider's host, if it is the same for every customer; undefined: credentials bring their own, or it is made of their
 * options.
 */
export function toFixedHost({ baseUrl }: Pick<Provider, 'baseUrl'>): string | undefined {
  return baseUrl === null || baseUrl.includes('{') ? undefined : new URL(baseUrl).hostname
}

/** Returns the base address of the provider's list of models. See toBaseUrl. */
export function toModelsBaseUrl(
  provider: Pick<Provider, 'baseUrl' | 'baseUrlExceptions' | 'modelsBaseUrl'>,
  own: string | null | undefined,
  options: JsonObject | undefined,
): string {
  const { modelsBaseUrl } = provider
  return toBaseUrl(modelsBaseUrl === undefined ? provider : { baseUrl: modelsBaseUrl }, own, options)
}

/**
 * Returns true if an address leads to the provider itself, such as to a region of it. Else the credential's owner chose where it leads, and
 * what answers there may be inside a private network.
 */
export function isProvidersOwn(
  provider: Pick<Provider, 'baseUrl'> & Partial<Provider>,
  baseUrl: string,
): boolean {
  if (provider.sandbox === true) return true
  const template = provider.baseUrl
  const home = template === null ? undefined : toHost(template)?.replace(/^[^.{]*\{[a-z_]+\}[^.{]*\./, '')
  if (home === undefined || home.includes('{')) return false
  const host = toHost(baseUrl)
  return host === home || host?.endsWith(`.${home}`) === true
}

/** undefined: not an `https:` address on the usual port. */
function toHost(address: string): string | undefined {
  return /^https:\/\/([a-z0-9.{}_-]+)(?:\/|$)/i.exec(address)?.[1]?.toLowerCase()
}

/** Returns true if the option's value fits where the provider's address has it, or if the address does not have the option. */
export function isAddressPart(provider: Pick<Provider, 'baseUrl'>, name: string, value: string): boolean {
  const template = provider.baseUrl ?? ''
  const at = template.indexOf(`{${name}}`)
  if (at === -1) return true
  const pathStart = template.indexOf('/', template.indexOf('//') + 2)
  const isInHost = pathStart === -1 || at < pathStart
  return isInHost ? HOST_LABEL.test(value) : value !== '.' && value !== '..'
}
