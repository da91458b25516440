import { useEffect, useRef, useState } from 'react'
import { type Log, listLogs } from './log-calls.ts'
import type { LogQuery } from './log-search.ts'

const BUSY_MS = 2_000
const IDLE_MS = 10_000
/** The most rows that the tail keeps; older ones are dropped. */
const MAX_ROWS = 500

interface LiveTail {
  /** Requests that ended since the list was loaded, newest first. */
  readonly rows: readonly Log[]
  readonly error: unknown
}

/**
 * Polls for matching requests that ended after the newest one: every 2 s, every 10 s while none arrive, and never while the page is
 * hidden. While the list is empty, it loads the list itself. It stops at the first failure.
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
    // The effect depends on the filters: rows that match other filters are removed.
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

/** Returns the requests that ended after the given one, newest first, and the id of the one that ended last. */
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
