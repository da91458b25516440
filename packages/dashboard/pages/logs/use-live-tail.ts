import { useEffect, useRef, useState } from 'react'
import { type Log, listLogs } from './log-calls.ts'
import type { LogQuery } from './log-search.ts'

const BUSY_MS = 2_000
const IDLE_MS = 10_000
/** Older ones of the tail are dropped. */
const MOST_ROWS = 500

interface LiveTail {
  /** Requests that ended since the list was loaded, newest first. */
  readonly rows: readonly Log[]
  readonly error: unknown
}

/**
 * Asks for what ended after the newest request, with the filter applied: every 2 s, every 10 s while nothing comes, never while the
 * page is hidden. It stops at the first failure.
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
  }, [newestId])
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isStopped = false
    const { from: _, ...kept } = JSON.parse(key) as Record<string, string | readonly string[]>
    const ask = async (): Promise<void> => {
      let waitMs = IDLE_MS
      if (!document.hidden && after.current !== undefined) {
        try {
          const { data } = await listLogs(envId, { ...kept, after: after.current })
          if (isStopped) return
          const last = data.at(-1)
          if (last !== undefined) {
            after.current = last.request_id
            waitMs = BUSY_MS
            setTail(({ rows }) => ({
              rows: [...data.toReversed(), ...rows].slice(0, MOST_ROWS),
              error: undefined,
            }))
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
  }, [isOn, envId, key])
  return tail
}
