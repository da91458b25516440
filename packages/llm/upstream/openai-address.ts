import { toObject, toText } from '../json/json-value.ts'
import { joinAddress } from './join-address.ts'
import type { Target } from './target.ts'

/** The model as the provider's wire has it: a deployment's name where the credential maps it to one. */
export function toWireModel({ provider, model, options }: Target): string {
  if (provider.openai?.deployments !== true) return model
  const deployments = toObject(options?.deployments)
  return deployments !== undefined && Object.hasOwn(deployments, model)
    ? (toText(deployments[model]) ?? model)
    : model
}

/**
 * Where a request goes. With an `api_version` the older form of a provider with deployments: chat completions lie below
 * the deployment, everything else beside it, and the version is in the query.
 */
export function toAddress(target: Target, path: string): { origin: string; path: string } {
  const version =
    target.provider.openai?.deployments === true ? toText(target.options?.api_version) : undefined
  if (version === undefined) return joinAddress(target.baseUrl, path)
  const base = target.baseUrl.replace(/\/v1$/, '')
  const query = `?api-version=${encodeURIComponent(version)}`
  const isBelow = path !== '/responses' && path !== '/models'
  const below = isBelow ? `/deployments/${encodeURIComponent(toWireModel(target))}` : ''
  return joinAddress(base, `${below}${path}${query}`)
}
