import { useEffect, useRef, useState } from 'react'
import { type Log, listLogs } from './log-calls.ts'
import type { LogQuery } from './log-search.ts'

const BUSY_MS = 2_000
const IDLE_MS = 10_000
/** While there are more new requests than a page has. */
const CATCH_UP_MS = 500
/** The most rows that the tail keeps; older ones are dropped. */
const MAX_ROWS = 500

interface LiveTail {
  /** Requests that were stored since the list was loaded, and are not in it, newest first. */
  readonly rows: readonly Log[]
  readonly error: unknown
}

/**
 * Polls for matching requests that were stored after the listed ones: every 2 s, every 10 s while none arrive, and never while the page is
 * hidden. While the list is empty, it loads the list itself. It stops at the first failure.
 */
export function useLiveTail(
  isOn: boolean,
  envId: string,
  filters: LogQuery,
  listed: readonly Log[],
): LiveTail {
  const [tail, setTail] = useState<LiveTail>({ rows: [], error: undefined })
  const newestId = listed[0]?.request_id
  const start = useRef(listed)
  start.current = listed
  const after = useRef<string | undefined>(undefined)
  const key = JSON.stringify(filters)
  useEffect(() => {
    after.current = findFirstEnded(start.current)
    setTail({ rows: [], error: undefined })
    // The effect depends on the filters: rows that match other filters are removed.
    void [newestId, key]
  }, [newestId, key])
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isStopped = false
    const query = JSON.parse(key) as LogQuery
    const ask = async (): Promise<void> => {
      let waitMs = IDLE_MS
      if (!document.hidden) {
        try {
          const stored = await listStored(envId, query, after.current)
          if (isStopped) return
          if (stored.lastId !== undefined) {
            after.current = stored.lastId
            waitMs = stored.hasMore ? CATCH_UP_MS : BUSY_MS
            setTail(({ rows }) => ({ rows: addRows(stored.rows, rows), error: undefined }))
          }
        } catch (error) {
          if (!isStopped) setTail(({ rows }) => ({ rows, error }))
          return
        }
      }
      if (!isStopped) timer = setTimeout(() => void ask(), waitMs)
    }
    timer = setTimeout(() => void ask(), BUSY_MS)
    return () => {
      isStopped = true
      clearTimeout(timer)
    }
  }, [isOn, envId, key, newestId])
  const listedIds = new Set(listed.map(({ id }) => id))
  return { ...tail, rows: tail.rows.filter(({ id }) => !listedIds.has(id)) }
}

function addRows(added: readonly Log[], rows: readonly Log[]): Log[] {
  const ids = new Set(added.map(({ id }) => id))
  return [...added, ...rows.filter(({ id }) => !ids.has(id))].slice(0, MAX_ROWS)
}

/**
 * Returns the request that ended first. A tail that begins there reads the listed ones once more, and with them those that were being stored
 * while the list was loaded.
 */
function findFirstEnded(logs: readonly Log[]): string | undefined {
  const endOf = (log: Log): number => Date.parse(log.created_at) + log.total_ms
  return logs.toSorted((a, b) => endOf(a) - endOf(b))[0]?.request_id
}

/** Returns the requests that were stored after the given one, newest first, and the id to go on after. */
async function listStored(
  envId: string,
  query: LogQuery,
  after: string | undefined,
): Promise<{
  readonly rows: readonly Log[]
  readonly lastId: string | undefined
  readonly hasMore: boolean
}> {
  if (after === undefined) {
    const { data: rows } = await listLogs(envId, query)
    return { rows, lastId: findFirstEnded(rows), hasMore: false }
  }
  const { from: _, ...kept } = query
  const { data, has_more: hasMore } = await listLogs(envId, { ...kept, after })
  return { rows: data.toReversed(), lastId: data.at(-1)?.request_id, hasMore }
}
