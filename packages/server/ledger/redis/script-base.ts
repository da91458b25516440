import { COUNTERS } from './script-counters.ts'
import { HOLDS } from './script-holds.ts'

/**
 * What runs inside Redis: scripts, each whole or not at all. Every key of an organization carries its id as hash tag;
 * scripts are given the first of them and make the others from it.
 *
 * `holds`   hash: request id → state and record (MessagePack, see RECORD)
 * `leases`  sorted set: request id → when it has to be looked at (ms): a running hold's lease end, or when to forget
 * `<meter>` hash of a counter: s settled, h held, x when it expires (ms); of a rolling one also `<ms>h` and `<ms>s` for each time of `<meter>:t`
 * `<meter>:t` list of a rolling counter: the times (ms) at which something was admitted that still counts, ascending
 *
 * States: r running, w swept (its lease ran out, what it held counts as used), d done (kept for a moment, for counters
 * that are made meanwhile), x given back before it came (the admission that comes late is refused).
 *
 * Numbers are whole and below 2^53, which Lua's doubles hold exactly; sums are compared by subtraction, so that no
 * intermediate leaves that range, and are written by text(): made into text by Lua itself they would be rounded at 14 digits.
 *
 * RECORD: 1 admitted at (server), 2 tokens, 3 nano-dollars, 4 admitted at (gateway), 5 requests, 6 sandbox,
 * 7 project, 8 environment, 9 key, 10 end user, 11 owner; from FIRST on three a meter: key, code, time of its entry.
 *
 * CODE: 1 rolling requests, 2 rolling tokens, 3 requests, 4 tokens, 5 money, 6 in flight; 10 more: real use only.
 */
const BASE = `
local call = redis.call
local FIRST = 12
local RECENT, SWEPT, WEEK = 10000, 86400000, 604800000
-- Now in Unix milliseconds, for tests; empty: the server's clock, which all processes share.
local now, stamp = tonumber(ARGV[1]), tonumber(ARGV[1])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
  -- An admission counts from the end of its millisecond on, so that a window is never shorter than it says.
  stamp = t[2] % 1000 == 0 and now or now + 1
end

-- Twice as fast as %.0f, but 32 bits where the server has no more.
local format = string.format
local WHOLE = format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'
local function text(n) return format(WHOLE, n) end

local function is_rolling(code) return code % 10 <= 2 end
local function amount(code, tokens, nano)
  local c = code % 10
  if c == 2 or c == 4 then return tokens end
  if c == 5 then return nano end
  return 1
end
local function used(code, requests, tokens, nano, sandbox)
  local c = code % 10
  -- A rate counts what was admitted, whatever came of it.
  if c == 1 then return 1 end
  if c == 6 or (code >= 10 and sandbox == 1) then return 0 end
  if c == 3 then return requests end
  return amount(code, tokens, nano)
end
local function whole(code, held) return code % 10 == 6 and 0 or held end

-- Does a meter of this subject count the request of this record?
local function concerns(r, project, environment, key, user, since, until_)
  return r[4] >= since and (until_ == 0 or r[4] < until_)
    and (project == '' or project == r[7]) and (environment == '' or environment == r[8])
    and (key == '' or key == r[9]) and (user == '' or user == r[10])
end
`

/** The beginning of every script. ARGV[1]: the time, or empty. */
export const COMMON = `${BASE}${COUNTERS}${HOLDS}`

/** The beginning of a script for one organization: KEYS[1] is its holds. */
export const COMMON_OF_ONE = `${COMMON}
enter_organization(KEYS[1])
`
