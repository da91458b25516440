-- Prepended to every script, after the tables that scripts.ts generates: the data model, the clock, the counting rules.
--
-- Guarantee: Redis runs a script as a whole. No other command sees a state between its first and its last write.
--
-- Keys. Those of one organization contain its id as a hash tag. A script gets the first of them and derives the others.
--   <base>reservations     hash: request id -> state and record
--   <base>mark:<id>        a state without record, of a request that was released or withdrawn
--   <base>index            sorted set of equal scores: the members of each reservation, see members_of()
--   <base>leases           sorted set: request id -> time (ms) at which a reservation expires or is forgotten
--   <base>counter:<meter>  hash: s settled, r reserved, u time (ms) of a use, renewed after USE_KEPT; of a rolling counter also
--                          <ms>s and <ms>r for each time in its list
--   <base>times:<meter>    list, of a rolling counter: times (ms) of the admissions that it counts, ascending
--   <base>meters           sorted set: name of a counter -> time (ms) at which it was created or known to be used
--
-- ARGV[1] of every script: now in Unix milliseconds, for tests; empty: the server's clock, which all processes share.
--
-- Numbers are whole and below 2^53, which Lua's doubles hold exactly. Sums are compared by subtraction, so that no
-- intermediate result leaves that range. text() writes them: Lua itself would round them to 14 digits.

local call = redis.call

-- States of a reservation, the first character of its value. The record follows as MessagePack.
local RUNNING = 'r'
local EXPIRED = 'e'  -- its lease has run out; what it reserved counts as used until it is settled or extended
local SETTLED = 's'  -- kept for SETTLED_KEPT ms, for counters that are created meanwhile
-- States without record, which are keys of their own: no new counter has to look at them.
local RELEASED = 'x'  -- an admission that arrives after its release is refused
local WITHDRAWN = 'w' -- the same, of an admission without a reply; restored if the gateway has admitted the request by itself

-- A record is a list: 1 time of admission (ms) by the server's clock, 2 tokens, 3 nano-dollars, 4 time of arrival (ms) by the
-- gateway's clock, 5 requests, 6 sandbox (0 or 1), 7 project, 8 environment, 9 key, 10 end user, 11 owner. From FIRST_SHARE on,
-- three for each meter: key, code, time of its entry in a rolling counter or 0. The positions have no named constants, since
-- each constant that a function uses makes every call of every script slower.
local FIRST_SHARE = 12

local SETTLED_KEPT, USE_KEPT, MARK_KEPT, EXPIRED_KEPT, WEEK = 10000, 60000, 600000, 86400000, 604800000

-- `now`: time of this script. `entry_time`: the time that admissions of this script count from.
local now, entry_time = tonumber(ARGV[1]), tonumber(ARGV[1])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
  -- Rounded up, so that an entry never leaves the window before its time.
  entry_time = t[2] % 1000 == 0 and now or now + 1
end

-- %d is twice as fast as %.0f, but has only 32 bits on some servers.
local format = string.format
local WHOLE = format('%d', 9007199254740991) == '9007199254740991' and '%d' or '%.0f'
local function text(n) return format(WHOLE, n) end

-- Returns what a running request reserves of a meter of this code.
local function reserved_amount(code, tokens, nano_usd)
  local what = RESERVES[code]
  if what == 'tokens' then return tokens end
  return what == 'nanoUsd' and nano_usd or 1
end

-- Returns what an ended request adds to the settled amount of a meter of this code. `sandbox`: 1 where the sandbox answered.
local function settled_amount(code, requests, tokens, nano_usd, sandbox)
  local what = (sandbox == 1 and SETTLES_OF_SANDBOX or SETTLES)[code]
  if what == 'tokens' then return tokens end
  if what == 'nanoUsd' then return nano_usd end
  if what == 'requests' then return requests end
  return what == 'one' and 1 or 0
end

-- Returns what an expired reservation counts as used of what it reserved.
local function expired_amount(code, reserved)
  return SETTLES[code] == 'nothing' and 0 or reserved
end

-- Whether a meter of this subject and window counts the request of this record. '' matches everything; until_ 0: no end.
local function counts_request(record, project, environment, key, end_user, since, until_)
  local arrived_at, its_project, its_environment, its_key, its_end_user =
    record[4], record[7], record[8], record[9], record[10]
  return arrived_at >= since and (until_ == 0 or arrived_at < until_)
    and (project == '' or project == its_project) and (environment == '' or environment == its_environment)
    and (key == '' or key == its_key) and (end_user == '' or end_user == its_end_user)
end
