import { useInfiniteQuery } from '@tanstack/react-query'

interface ListPage<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

interface ListOptions<T> {
  /** Returns how long to wait before what is shown is asked for again, quietly; undefined: it is not. */
  readonly pollMs?: (items: readonly T[]) => number | undefined
}

/** Returns the record of a list by its id, for records that have no address of their own. Throws if there is none. */
export async function findById<T extends { readonly id: string }>(
  load: (cursor: string | undefined) => Promise<ListPage<T>>,
  id: string,
): Promise<T> {
  let cursor: string | undefined
  do {
    const page = await load(cursor)
    const found = page.data.find(each => each.id === id)
    if (found !== undefined) return found
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  throw new Error('It is not there any more.')
}

/** What one page shows of a list at most. */
export const MAX_LISTED = 1_000

/** Returns all records of a list, page by page; `isTruncated`: there are more than the first MAX_LISTED. */
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

/**
 * A list that grows by pages. `load` gets the cursor of the next page, undefined for the first.
 */
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
