import { type LookupAddress, promises, type RecordWithTtl } from 'node:dns'

/** Which addresses a name has, or why none are known. */
export type HostAnswer =
  | { readonly ok: true; readonly addresses: readonly LookupAddress[]; readonly ttlMs: number }
  /** `unknown`: the name does not exist or has no address. `timeout` and `failed`: that is unknown. */
  | { readonly ok: false; readonly reason: 'unknown' | 'timeout' | 'failed' }

export interface QueryOptions {
  /** Addresses of DNS servers, with `:port` or without. undefined: those of the system (resolv.conf). */
  readonly servers?: readonly string[] | undefined
  /** Bounds the whole query, all attempts included. */
  readonly timeoutMs: number
}

/** How long one DNS server has to answer before the next one, or the same one again, is asked. */
const ATTEMPT_MS = 800
/** The attempts of a query. With one server they take 0.8, 0.8 and 1.6 seconds. */
const ATTEMPTS = 3
/** How long the other family may take once addresses of one family are known. */
const GRACE_MS = 300
/** No service has as many. More would only fill the cache. */
const MAX_ADDRESSES = 100

/** Names that must not be sent to a DNS server (RFC 6761). */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i
const LOOPBACK: HostAnswer = {
  ok: true,
  addresses: [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ],
  ttlMs: 0,
}

/**
 * Asks DNS servers for the A and AAAA records of a name. Never rejects. Unlike getaddrinfo it uses no thread, so that
 * names whose servers do not answer cost a socket each and delay nothing; /etc/hosts and search domains do not count.
 */
export async function queryAddresses(
  hostname: string,
  { servers, timeoutMs }: QueryOptions,
): Promise<HostAnswer> {
  if (LOCALHOST.test(hostname)) return LOOPBACK
  // One resolver for each query: cancel() ends all queries of a resolver.
  const resolver = new promises.Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS })
  if (servers !== undefined) resolver.setServers(servers)
  const limit = setTimeout(() => resolver.cancel(), timeoutMs)
  let grace: NodeJS.Timeout | undefined
  const toRecords = (records: RecordWithTtl[]): Family => {
    // An alias that leads to no address.
    if (records.length === 0) return 'ENODATA'
    grace ??= setTimeout(() => resolver.cancel(), GRACE_MS)
    return records
  }
  const toCode = (error: NodeJS.ErrnoException): string => {
    // The name does not exist, so it has no address of the other family either.
    if (error.code === 'ENOTFOUND') resolver.cancel()
    return error.code ?? ''
  }
  const [v4, v6] = await Promise.all([
    resolver.resolve4(hostname, { ttl: true }).then(toRecords, toCode),
    resolver.resolve6(hostname, { ttl: true }).then(toRecords, toCode),
  ])
  clearTimeout(limit)
  clearTimeout(grace)
  return toAnswer(v4, v6)
}

/** A list of records, or the code of an error. */
type Family = readonly RecordWithTtl[] | string

function toAnswer(v4: Family, v6: Family): HostAnswer {
  if (typeof v4 === 'string' && typeof v6 === 'string') return { ok: false, reason: toReason(v4, v6) }
  const addresses: LookupAddress[] = []
  let ttlS = Number.POSITIVE_INFINITY
  for (const [family, records] of [
    [4, v4],
    [6, v6],
  ] as const) {
    if (typeof records === 'string') continue
    if (records.length > MAX_ADDRESSES) return { ok: false, reason: 'failed' }
    for (const { address, ttl } of records) {
      addresses.push({ address, family })
      ttlS = Math.min(ttlS, ttl)
    }
  }
  return { ok: true, addresses, ttlMs: Number.isFinite(ttlS) ? ttlS * 1000 : 0 }
}

/** Codes that mean that the servers know the name's addresses, and that there are none. */
const KNOWN_ABSENT = new Set(['ENODATA', 'EBADNAME'])

function toReason(v4: string, v6: string): Extract<HostAnswer, { ok: false }>['reason'] {
  if (v4 === 'ENOTFOUND' || v6 === 'ENOTFOUND') return 'unknown'
  if (KNOWN_ABSENT.has(v4) && KNOWN_ABSENT.has(v6)) return 'unknown'
  // The time limit cancels the queries.
  const isLate = (code: string): boolean => code === 'ETIMEOUT' || code === 'ECANCELLED'
  return isLate(v4) || isLate(v6) ? 'timeout' : 'failed'
}
