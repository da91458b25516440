import { COMMON } from './script-base.ts'

// What a request does. The keys and the state of a hold: see script-base.ts.

/**
 * ARGV: now, id, lease ms, tokens, nano-dollars, at; as JSON project, environment, key, end user, owner; as JSON a list a
 * meter: key, code, limit, window ms, grain ms. (A client pays for every argument.) Gives 1, now and settled, held, oldest of each meter; or 0, now and index, settled,
 * held, oldest, freed at of each that refuses; or 2, now and the indices of those that have no counter yet; 3: it runs
 * already; 4: it was given back before.
 */
export const ADMIT = `${COMMON}
local id = ARGV[2]
local tokens, nano = tonumber(ARGV[4]), tonumber(ARGV[5])
local was = call('HGET', holds, id)
if was then return { string.sub(was, 1, 1) == 'r' and 3 or 4 } end
sweep(20)
local subject, meters = cjson.decode(ARGV[7]), cjson.decode(ARGV[8])
local out, missing, refused = { 1, now }, { 2, now }, { 0, now }
for place, m in ipairs(meters) do
  local key, code, limit, window = base .. m[1], m[2], m[3], m[4]
  local index = place - 1
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
local r = { stamp, tokens, nano, tonumber(ARGV[6]), 1, 0, unpack(subject) }
for place, m in ipairs(meters) do
  local key, code, window = base .. m[1], m[2], m[4]
  local n, t = amount(code, tokens, nano), 0
  if code % 10 <= 2 then
    t = enter(key, n, m[5])
    local oldest = 2 + place * 3
    if out[oldest] == -1 then out[oldest] = t end
  else
    add(key, 'h', n)
  end
  keep(key, code, window)
  r[#r + 1] = m[1]
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
