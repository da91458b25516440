import { useQuery, useQueryClient } from '@tanstack/react-query'

/** The two keys that the first-run set-up shows once. They live in this page's memory only, and a reload ends them. */
export interface SetupKeys {
  readonly secretKey: string
  readonly managementKey: string
}

const QUERY_KEY = ['setup-keys'] as const

export function useSetupKeys(): {
  readonly keys: SetupKeys | undefined
  keep(keys: SetupKeys): void
  forget(): void
} {
  const client = useQueryClient()
  const { data } = useQuery<SetupKeys | null>({
    queryKey: QUERY_KEY,
    queryFn: () => null,
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return {
    keys: data ?? undefined,
    keep: keys => void client.setQueryData(QUERY_KEY, keys),
    forget: () => void client.setQueryData(QUERY_KEY, null),
  }
}
