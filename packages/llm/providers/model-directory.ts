import { findModel, providersListing } from './catalog.ts'
import { findProvider, PROVIDERS } from './index.ts'

/** What a provider may call a model: visible characters, and no part that addresses treat as a step upwards. */
const SENDABLE = /^[^\p{C}\p{Z}]{1,256}$/u
const DOT_SEGMENT = /(^|[/\\])\.{1,2}([/\\]|$)/

const OWNERS = new Map<string, string[]>()
for (const { id, ownMounts = [] } of PROVIDERS) {
  for (const name of ownMounts) OWNERS.set(name, [...(OWNERS.get(name) ?? []), id])
}
const NO_OWNERS: readonly string[] = []

/** The shipped catalogue, as who resolves a model's name asks it. */
export const modelDirectory = {
  hasProvider: (providerId: string): boolean => findProvider(providerId) !== undefined,
  /** Returns true if the provider's models are its owner's own, so that every name is accepted. */
  takesAnyName: (providerId: string): boolean => findProvider(providerId)?.models === 'any',
  /** Returns true if an unknown name may be sent to the provider. */
  takesUnknownName: (providerId: string, modelId: string): boolean => {
    const exact = findProvider(providerId)?.exactNames ?? []
    const name = modelId.toLowerCase()
    return SENDABLE.test(name) && !DOT_SEGMENT.test(name) && !exact.some(start => name.startsWith(start))
  },
  hasModel: (providerId: string, modelId: string): boolean => findModel(providerId, modelId) !== undefined,
  providersOf: providersListing,
  /** The providers whose own API a mount is, in the order in which an unknown bare name goes to them. */
  ownersOf: (mountName: string): readonly string[] => OWNERS.get(mountName) ?? NO_OWNERS,
  /** Returns true if the provider lists models of its own make. */
  isMaker: (providerId: string): boolean => findProvider(providerId)?.maker === true,
}
