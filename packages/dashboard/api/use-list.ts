import { useInfiniteQuery } from '@tanstack/react-query'

interface ListPage<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

/** A list that grows by pages. `load` gets the cursor of the next page, undefined for the first. */
export function useList<T>(
  queryKey: readonly unknown[],
  load: (cursor: string | undefined) => Promise<ListPage<T>>,
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
  })
  return { ...query, items: query.data?.pages.flatMap(({ data }) => data) ?? [] }
}
