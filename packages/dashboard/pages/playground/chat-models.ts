import type { Model } from '../../../sdk/index.ts'
import { SANDBOX_MODEL } from './draft.ts'

/** Returns the models that a chat can name, in groups: aliases first, then providers by name. */
export function groupChatModels(models: readonly Model[]): [name: string, ids: string[]][] {
  const groups = new Map<string, string[]>()
  const add = (name: string, id: string): void => void groups.set(name, [...(groups.get(name) ?? []), id])
  for (const { id, kind, provider, capabilities } of models) {
    if (kind === 'alias') add('Aliases', id)
    else if (capabilities.includes('chat')) add(provider ?? 'Other', id)
  }
  return [...groups].sort(
    ([a], [b]) => Number(b === 'Aliases') - Number(a === 'Aliases') || a.localeCompare(b),
  )
}

/**
 * Returns the model that the playground begins with: the sandbox's in development, else the first chat model that the environment
 * can call. undefined: there is none, or `models` is not loaded.
 */
export function findFirstModel(
  environment: 'development' | 'production',
  models: readonly Model[] | undefined,
): string | undefined {
  if (environment === 'development') return SANDBOX_MODEL
  const chatModels = models?.filter(({ capabilities }) => capabilities.includes('chat')) ?? []
  return groupChatModels(chatModels)[0]?.[1][0]
}
