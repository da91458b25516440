/**
 * What runs inside Redis: one script an operation, each whole or not at all. Every key of an organization carries its id
 * as hash tag, so that a cluster holds them in one slot; scripts are given the first of them and make the others from it.
 *
 * `holds`   hash: request id → state and record (MessagePack, see RECORD)
 * `leases`  sorted set: request id → when it has to be looked at (ms): a running hold's lease end, or when to forget
 * `<meter>` hash of a counter: s settled, h held; of a rolling one also `<ms>h` and `<ms>s` for each time of `<meter>:t`
 * `<meter>:t` list of a rolling counter: the times (ms) at which something was admitted that still counts, ascending
 *
 * States: r running, w swept (its lease ran out, what it held counts as used), d done (kept for a moment, for counters
 * that are made meanwhile), x given back before it came (the admission that comes late is refused).
 *
 * Numbers are whole and below 2^53, which Lua's doubles hold exactly; sums are compared by subtraction, so that no
 * intermediate leaves that range, and are written as text of all their digits: Lua's own would round at 14.
 */

/** ARGV[1]: now in Unix milliseconds, for tests; empty: the server's clock, which all processes share. */
export const COMMON = `
local call = redis.call
local holds = KEYS[1]
local base = string.sub(holds, 1, -6)
local leases = base .. 'leases'
local RECENT, SWEPT, WEEK = 10000, 86400000, 604800000
local now, stamp
if ARGV[1] == '' then
  local t = call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
  -- An admission counts from the end of its millisecond on, so that a window is never shorter than it says.
  stamp = t[2] % 1000 == 0 and now or now + 1
else
  now = tonumber(ARGV[1])
  stamp = now
end

local function text(n) return string.format('%.0f', n) end
local function add(key, field, n)
  if n ~= 0 then call('HINCRBY', key, field, text(n)) end
end

-- RECORD: 1 admitted at (server), 2 tokens, 3 nano-dollars, 4 admitted at (gateway), 5 requests, 6 sandbox,
-- 7 project, 8 environment, 9 key, 10 end user, 11 owner; from FIRST on three a meter: key, code, time of its entry.
local FIRST = 12

-- CODE: 1 rolling requests, 2 rolling tokens, 3 requests, 4 tokens, 5 money, 6 in flight; 10 more: real use only.
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

local function ttl(code, window)
  local c = code % 10
  if c <= 2 then return window * 2 + 3600000 end
  -- A calendar window's counter got its end when it was made.
  if c == 6 or window == 0 then return WEEK end
  return 0
end
local function keep(key, code, window)
  local ms = ttl(code, window)
  if ms == 0 then return end
  call('PEXPIRE', key, text(ms))
  if code % 10 <= 2 then call('PEXPIRE', key .. ':t', text(ms)) end
end

-- Drops of a rolling counter what does not count any more; gives the oldest time that does, or nothing.
local function advance(key, window)
  local list = key .. ':t'
  local past = now - window
  local h, s = 0, 0
  local oldest = call('LINDEX', list, 0)
  while oldest and tonumber(oldest) <= past do
    local got = call('HMGET', key, oldest .. 'h', oldest .. 's')
    h = h + (tonumber(got[1]) or 0)
    s = s + (tonumber(got[2]) or 0)
    call('HDEL', key, oldest .. 'h', oldest .. 's')
    call('LPOP', list)
    oldest = call('LINDEX', list, 0)
  end
  add(key, 'h', -h)
  add(key, 's', -s)
  return oldest
end

-- Enters an admission into a rolling counter; times never go back. Very many of them share a grain of the window.
local function enter(key, n, grain)
  local list = key .. ':t'
  local last = call('LINDEX', list, -1)
  local t = stamp
  if grain > 1 and call('LLEN', list) > 20000 then t = math.ceil(t / grain) * grain end
  if last and tonumber(last) > t then t = tonumber(last) end
  local name = text(t)
  if last ~= name then call('RPUSH', list, name) end
  call('HINCRBY', key, name .. 'h', text(n))
  add(key, 'h', n)
  return t
end

-- When so much will have ended to count; -1: there is not so much.
local function freed_at(key, over)
  local list = key .. ':t'
  local from, freed = 0, 0
  while true do
    local times = call('LRANGE', list, from, from + 199)
    if #times == 0 then return -1 end
    for _, t in ipairs(times) do
      local got = call('HMGET', key, t .. 'h', t .. 's')
      freed = freed + (tonumber(got[1]) or 0) + (tonumber(got[2]) or 0)
      if freed >= over then return tonumber(t) end
    end
    from = from + 200
  end
end

-- Turns what a record holds of each meter into what gone() says was used of it. Gives what each has settled then.
local function finish(r, running, gone)
  local settled = {}
  for i = FIRST, #r, 3 do
    local key, code = base .. r[i], r[i + 1]
    local c = code % 10
    local held = amount(code, r[2], r[3])
    local n = gone(code, held)
    local after = 0
    if c <= 2 then
      local name = text(r[i + 2])
      if call('HEXISTS', key, name .. 'h') == 1 then
        if running then
          add(key, name .. 'h', -held)
          add(key, 'h', -held)
        else
          n = n - held
        end
        add(key, name .. 's', n)
        add(key, 's', n)
      end
    elseif c == 6 then
      if running and call('HEXISTS', key, 's') == 1 then add(key, 'h', -1) end
    else
      local s = call('HGET', key, 's')
      if s then
        if running then add(key, 'h', -held) else n = n - held end
        add(key, 's', n)
        after = tonumber(s) + n
      end
    end
    settled[#settled + 1] = after
  end
  return settled
end

local function whole(code, held)
  if code % 10 == 6 then return 0 end
  return held
end

-- Looks at what is due: a lease that ran out counts as used as held; what is over is forgotten.
local function sweep(most)
  local swept = 0
  for _, id in ipairs(call('ZRANGEBYSCORE', leases, '-inf', '(' .. text(now), 'LIMIT', 0, most)) do
    local was = call('HGET', holds, id)
    if was and string.sub(was, 1, 1) == 'r' then
      finish(cmsgpack.unpack(string.sub(was, 2)), true, whole)
      call('HSET', holds, id, 'w' .. string.sub(was, 2))
      call('ZADD', leases, text(now + SWEPT), id)
      swept = swept + 1
    else
      call('HDEL', holds, id)
      call('ZREM', leases, id)
    end
  end
  return swept
end

-- Does a meter of this subject count the request of this record?
local function concerns(r, project, environment, key, user, since, until_)
  return r[4] >= since and (until_ == 0 or r[4] < until_)
    and (project == '' or project == r[7]) and (environment == '' or environment == r[8])
    and (key == '' or key == r[9]) and (user == '' or user == r[10])
end
`
