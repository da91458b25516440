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
const COMMON = `
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

/**
 * ARGV: now, id, lease ms, tokens, nano-dollars, at, project, environment, key, end user, owner; then five a meter: key,
 * code, limit, window ms, grain ms. Gives 1, now and settled, held, oldest of each meter; or 0, now and index, settled,
 * held, oldest, freed at of each that refuses; or 2, now and the indices of those that have no counter yet; 3: it runs
 * already; 4: it was given back before.
 */
export const ADMIT = `${COMMON}
local id = ARGV[2]
local tokens, nano = tonumber(ARGV[4]), tonumber(ARGV[5])
local was = call('HGET', holds, id)
if was then return { string.sub(was, 1, 1) == 'r' and 3 or 4 } end
sweep(20)
local out, missing, refused = { 1, now }, { 2, now }, { 0, now }
for a = FIRST, #ARGV, 5 do
  local key, code, limit, window = base .. ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local index = (a - FIRST) / 5
  local oldest = code % 10 <= 2 and tonumber(advance(key, window)) or -1
  local got = call('HMGET', key, 's', 'h')
  if not got[1] then
    missing[#missing + 1] = index
  else
    local s, h, want = tonumber(got[1]), tonumber(got[2]), amount(code, tokens, nano)
    if want > limit - s - h then
      local freed = -1
      if code % 10 <= 2 and want <= limit then freed = freed_at(key, want - (limit - s - h)) end
      for _, value in ipairs({ index, s, h, oldest, freed }) do refused[#refused + 1] = value end
    end
    out[#out + 1] = s
    out[#out + 1] = h + want
    out[#out + 1] = oldest
  end
end
if #missing > 2 then return missing end
if #refused > 2 then return refused end
local r = { stamp, tokens, nano, tonumber(ARGV[6]), 1, 0, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11] }
for a = FIRST, #ARGV, 5 do
  local key, code, window = base .. ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 3])
  local n, t = amount(code, tokens, nano), 0
  if code % 10 <= 2 then
    t = enter(key, n, tonumber(ARGV[a + 4]))
    local oldest = 2 + (a - FIRST) / 5 * 3 + 3
    if out[oldest] == -1 then out[oldest] = t end
  else
    add(key, 'h', n)
  end
  keep(key, code, window)
  r[#r + 1] = ARGV[a]
  r[#r + 1] = code
  r[#r + 1] = t
end
call('HSET', holds, id, 'r' .. cmsgpack.pack(r))
call('ZADD', leases, text(now + tonumber(ARGV[3])), id)
return out
`

/**
 * ARGV: now, id, lease ms, tokens, nano-dollars; then three a meter, in the order of its admission: key, limit, window
 * ms. Gives as ADMIT does; 4: there is no such hold any more.
 */
export const EXTEND = `${COMMON}
local id = ARGV[2]
local tokens, nano = tonumber(ARGV[4]), tonumber(ARGV[5])
local was = call('HGET', holds, id)
local state = was and string.sub(was, 1, 1)
if state ~= 'r' and state ~= 'w' then return { 4 } end
local r = cmsgpack.unpack(string.sub(was, 2))
if state == 'w' then
  -- The request was not dead after all: what counted as used is held again.
  for i = FIRST, #r, 3 do
    local key, code = base .. r[i], r[i + 1]
    local held = amount(code, r[2], r[3])
    local name = code % 10 <= 2 and text(r[i + 2]) or ''
    if call('HEXISTS', key, name == '' and 's' or name .. 'h') == 1 then
      add(key, 'h', held)
      if name ~= '' then
        add(key, name .. 'h', held)
        add(key, name .. 's', -held)
      end
      if code % 10 ~= 6 then add(key, 's', -held) end
    end
  end
end
call('HSET', holds, id, 'r' .. string.sub(was, 2))
call('ZADD', leases, text(now + tonumber(ARGV[3])), id)
local out, refused = { 1, now }, { 0, now }
for a = 6, #ARGV, 3 do
  local key, limit, window = base .. ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local index = (a - 6) / 3
  local code = r[FIRST + index * 3 + 1]
  local oldest = code % 10 <= 2 and tonumber(advance(key, window)) or -1
  local got = call('HMGET', key, 's', 'h')
  local s, h = tonumber(got[1]) or 0, tonumber(got[2]) or 0
  local more = amount(code, tokens, nano) - amount(code, r[2], r[3])
  if more > 0 and more > limit - s - h then
    local freed = -1
    if code % 10 <= 2 and more <= limit then freed = freed_at(key, more - (limit - s - h)) end
    for _, value in ipairs({ index, s, h, oldest, freed }) do refused[#refused + 1] = value end
  end
  out[#out + 1] = s
  out[#out + 1] = h + more
  out[#out + 1] = oldest
end
if #refused > 2 then return refused end
if tokens == r[2] and nano == r[3] then return out end
for i = FIRST, #r, 3 do
  local key, code = base .. r[i], r[i + 1]
  local more = amount(code, tokens, nano) - amount(code, r[2], r[3])
  if code % 10 <= 2 then
    local name = text(r[i + 2]) .. 'h'
    if call('HEXISTS', key, name) == 1 then
      add(key, name, more)
      add(key, 'h', more)
    end
  elseif call('HEXISTS', key, 's') == 1 then
    add(key, 'h', more)
  end
end
r[2], r[3] = tokens, nano
call('HSET', holds, id, 'r' .. cmsgpack.pack(r))
return out
`

/**
 * ARGV: now, id, requests, tokens, nano-dollars, sandbox (0 or 1). Gives what each meter has settled then (0 where that
 * is not asked of it), nothing where there is no such hold.
 */
export const SETTLE = `${COMMON}
local id = ARGV[2]
local was = call('HGET', holds, id)
local state = was and string.sub(was, 1, 1)
if state ~= 'r' and state ~= 'w' then return {} end
local r = cmsgpack.unpack(string.sub(was, 2))
local requests, tokens, nano, sandbox = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local settled = finish(r, state == 'r', function(code) return used(code, requests, tokens, nano, sandbox) end)
local done = { r[1], tokens, nano, r[4], requests, sandbox, r[7], r[8], r[9], r[10], r[11] }
call('HSET', holds, id, 'd' .. cmsgpack.pack(done))
call('ZADD', leases, text(now + RECENT), id)
return settled
`

/** ARGV: now, id. What is not known yet is marked, so that an admission that comes late holds nothing. */
export const RELEASE = `${COMMON}
local id = ARGV[2]
local was = call('HGET', holds, id)
local state = was and string.sub(was, 1, 1)
if state == 'd' or state == 'x' then return 0 end
if was then finish(cmsgpack.unpack(string.sub(was, 2)), state == 'r', function() return 0 end) end
call('HSET', holds, id, 'x')
call('ZADD', leases, text(now + 600000), id)
return 1
`

/** ARGV: now; then three a meter: key, code, window ms. Gives 1, now and the standings, or 2, now and what is missing. */
export const READ = `${COMMON}
sweep(1000)
local out, missing = { 1, now }, { 2, now }
for a = 2, #ARGV, 3 do
  local key, code, window = base .. ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local oldest = code % 10 <= 2 and tonumber(advance(key, window)) or -1
  local got = call('HMGET', key, 's', 'h')
  if not got[1] then missing[#missing + 1] = (a - 2) / 3 end
  out[#out + 1] = tonumber(got[1]) or 0
  out[#out + 1] = tonumber(got[2]) or 0
  out[#out + 1] = oldest
end
if #missing > 2 then return missing end
return out
`

/** ARGV: now. Gives how many leases ran out. */
export const SWEEP = `${COMMON}
call('PEXPIRE', holds, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
return sweep(1000)
`

/**
 * The requests that a new counter learns of from here, not from its seed. ARGV: now; then six a meter: project,
 * environment, key, end user (empty: any), since, until (0: none). Gives their ids.
 */
export const KNOWN = `${COMMON}
local ids = {}
local all = call('HGETALL', holds)
for i = 1, #all, 2 do
  local state = string.sub(all[i + 1], 1, 1)
  if state ~= 'x' then
    local r = cmsgpack.unpack(string.sub(all[i + 1], 2))
    for a = 2, #ARGV, 6 do
      if concerns(r, ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])) then
        ids[#ids + 1] = all[i]
        -- It must still be known when the seed comes.
        if state == 'd' then call('ZADD', leases, text(now + 60000), all[i]) end
        break
      end
    end
  end
end
return ids
`

/**
 * Makes a counter, unless another process has made it. ARGV: now, key, code, window ms, life ms, project, environment,
 * key, end user, since, until, used; then two an entry of a rolling one: at, amount. Gives what it has settled; -1: it was
 * there.
 */
export const SEED = `${COMMON}
local name, code, window = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = base .. name
local list = key .. ':t'
if call('HEXISTS', key, 's') == 1 then return -1 end
call('DEL', key, list)
local rolling = code % 10 <= 2
local s, h = tonumber(ARGV[12]), 0
local times, entries = {}, {}
local function note(t, held, settled)
  if t <= now - window then return end
  if not entries[t] then
    entries[t] = { 0, 0 }
    times[#times + 1] = t
  end
  entries[t][1] = entries[t][1] + held
  entries[t][2] = entries[t][2] + settled
  h = h + held
  s = s + settled
end
if rolling then
  s = 0
  for a = 13, #ARGV, 2 do note(math.min(tonumber(ARGV[a]), stamp), 0, tonumber(ARGV[a + 1])) end
end
local all = call('HGETALL', holds)
for i = 1, #all, 2 do
  local state = string.sub(all[i + 1], 1, 1)
  local r = state ~= 'x' and cmsgpack.unpack(string.sub(all[i + 1], 2))
  if r and concerns(r, ARGV[6], ARGV[7], ARGV[8], ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11])) then
    local held, settled = 0, 0
    if state == 'r' then held = amount(code, r[2], r[3])
    elseif state == 'w' then settled = whole(code, amount(code, r[2], r[3]))
    else settled = used(code, r[5], r[2], r[3], r[6]) end
    if rolling then
      note(r[1], held, settled)
    else
      h = h + held
      s = s + settled
    end
    if state ~= 'd' then
      local at = #r + 1
      for j = FIRST, #r, 3 do
        if r[j] == name then at = j end
      end
      r[at], r[at + 1], r[at + 2] = name, code, rolling and r[1] or 0
      call('HSET', holds, all[i], state .. cmsgpack.pack(r))
    end
  end
end
call('HSET', key, 's', text(s), 'h', text(h))
table.sort(times)
for _, t in ipairs(times) do
  call('RPUSH', list, text(t))
  call('HSET', key, text(t) .. 'h', text(entries[t][1]), text(t) .. 's', text(entries[t][2]))
end
call('PEXPIRE', key, ARGV[5])
if rolling then call('PEXPIRE', list, ARGV[5]) end
call('PEXPIRE', holds, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
return s
`

/**
 * Makes a running hold known to a server that has lost it; it is held whatever the limits say. ARGV: now, id, lease ms,
 * tokens, nano-dollars, at, project, environment, key, end user, owner, admitted at; then three a meter: key, code, grain.
 */
export const RESTORE = `${COMMON}
local id = ARGV[2]
if call('HEXISTS', holds, id) == 1 then return 0 end
local tokens, nano = tonumber(ARGV[4]), tonumber(ARGV[5])
local r = {
  tonumber(ARGV[12]), tokens, nano, tonumber(ARGV[6]), 1, 0, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11],
}
for a = 13, #ARGV, 3 do
  local key, code = base .. ARGV[a], tonumber(ARGV[a + 1])
  local t = 0
  -- A counter that is not there yet learns of it when it is seeded.
  if call('HEXISTS', key, 's') == 1 then
    if code % 10 <= 2 then t = enter(key, amount(code, tokens, nano), tonumber(ARGV[a + 2]))
    else add(key, 'h', amount(code, tokens, nano)) end
  end
  r[#r + 1] = ARGV[a]
  r[#r + 1] = code
  r[#r + 1] = t
end
call('HSET', holds, id, 'r' .. cmsgpack.pack(r))
call('ZADD', leases, text(now + tonumber(ARGV[3])), id)
return 1
`
