import { useEffect, useRef, useState } from 'react'
import { type Log, listLogs } from './log-calls.ts'
import type { LogQuery } from './log-search.ts'

const BUSY_MS = 2_000
const IDLE_MS = 10_000
/** Older ones of the tail are dropped. */
const MAX_ROWS = 500

interface LiveTail {
  /** Requests that ended since the list was loaded, newest first. */
  readonly rows: readonly Log[]
  readonly error: unknown
}

/**
 * Asks for what ended after the newest request, with the filter applied: every 2 s, every 10 s while nothing comes, never while the
 * page is hidden. While there is no request, the list itself is asked for. It stops at the first failure.
 */
export function useLiveTail(
  isOn: boolean,
  envId: string,
  filters: LogQuery,
  newestId: string | undefined,
): LiveTail {
  const [tail, setTail] = useState<LiveTail>({ rows: [], error: undefined })
  const after = useRef(newestId)
  const key = JSON.stringify(filters)
  useEffect(() => {
    after.current = newestId
    setTail({ rows: [], error: undefined })
    // Rows of other filters are no rows of these.
    void key
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
          const ended = await listEnded(envId, query, after.current)
          if (isStopped) return
          if (ended.lastId !== undefined) {
            after.current = ended.lastId
            waitMs = BUSY_MS
            setTail(({ rows }) => ({ rows: [...ended.rows, ...rows].slice(0, MAX_ROWS), error: undefined }))
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
  return tail
}

/** The requests that ended after the named one, newest first, and the one of them that ended last. */
async function listEnded(
  envId: string,
  query: LogQuery,
  after: string | undefined,
): Promise<{ readonly rows: readonly Log[]; readonly lastId: string | undefined }> {
  if (after === undefined) {
    const { data: rows } = await listLogs(envId, query)
    const endOf = (log: Log): number => Date.parse(log.created_at) + log.total_ms
    return { rows, lastId: rows.toSorted((a, b) => endOf(a) - endOf(b)).at(-1)?.request_id }
  }
  const { from: _, ...kept } = query
  const { data } = await listLogs(envId, { ...kept, after })
  return { rows: data.toReversed(), lastId: data.at(-1)?.request_id }
}
