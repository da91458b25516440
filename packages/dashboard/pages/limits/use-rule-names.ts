import { useQuery } from '@tanstack/react-query'
import { keyNamesQuery } from '../../api/key-calls.ts'
import { useEnvironment } from '../../session/environment-context.tsx'

/** Returns what rules apply to, by id, for `toRules`. `isPending` while the names of keys are loading. */
export function useRuleNames(): { nameOf: (id: string) => string; isPending: boolean } {
  const current = useEnvironment()
  const keys = useQuery(keyNamesQuery(current.environment.id))
  const names = new Map<string, string>([
    ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
    ...current.organization.projects.flatMap(({ id, name, environments }) => [
      [id, name] as const,
      ...environments.map(each => [each.id, `Environment ${name}, ${each.name}`] as const),
    ]),
    [current.environment.id, 'This environment'],
  ])
  // A key of another environment is not in the list.
  return { nameOf: id => names.get(id) ?? id.slice(0, 8), isPending: keys.isPending }
}
