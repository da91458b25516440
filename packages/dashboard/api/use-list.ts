import { useInfiniteQuery } from '@tanstack/react-query'

interface ListPage<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

interface ListOptions<T> {
  /** Returns after how many milliseconds the list is loaded again without a progress line, or undefined to not load it again. */
  readonly pollMs?: (items: readonly T[]) => number | undefined
}

/** Returns the record of a list by its id, for records that the API has no single-record route for. Throws if there is none. */
export async function findById<T extends { readonly id: string }>(
  load: (cursor: string | undefined) => Promise<ListPage<T>>,
  id: string,
): Promise<T> {
  let cursor: string | undefined
  do {
    const page = await load(cursor)
    const found = page.data.find(item => item.id === id)
    if (found !== undefined) return found
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  throw new Error('It no longer exists.')
}

/** The most records of a list that a page of the dashboard shows. */
export const MAX_LISTED = 1_000

/** Loads a list page by page, up to MAX_LISTED records. `isTruncated` is true if there are more. */
export async function loadAll<T>(
  load: (cursor: string | undefined) => Promise<ListPage<T>>,
): Promise<{ readonly data: readonly T[]; readonly isTruncated: boolean }> {
  const data: T[] = []
  let cursor: string | undefined
  do {
    const page = await load(cursor)
    data.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && data.length < MAX_LISTED)
  return { data, isTruncated: cursor !== undefined }
}

/** Returns a list that grows by pages. `load` gets the cursor of the next page, or undefined for the first one. */
export function useList<T>(
  queryKey: readonly unknown[],
  load: (cursor: string | undefined) => Promise<ListPage<T>>,
  { pollMs }: ListOptions<T> = {},
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => {
      if (pollMs === undefined || state.error !== null) return false
      return pollMs(state.data?.pages.flatMap(({ data }) => data) ?? []) ?? false
    },
    meta: { isQuiet: pollMs !== undefined },
  })
  return { ...query, items: query.data?.pages.flatMap(({ data }) => data) ?? [] }
}
