/**
 * Counters, as the scripts use them: what a script reads of one it reads once, changes in Lua, and writes once at its end
 * (`write_counters`). The requests of one call mostly concern the same counters, and each command costs as much as ten of
 * these functions.
 *
 * A counter in Lua: is_there; s and h; ends: when it expires; life: ms to live from now, if it is used. Of a rolling one
 * also entries: by its time as text { held, settled }, false: it counts no more; changed: those to be written; oldest: the
 * first time that counts, once it was advanced; t: the time that this script enters at; is_new_time: the list lacks it yet.
 */
export const COUNTERS = `
local counters = {}

local function roll(c)
  if not c.entries then c.entries, c.changed = {}, {} end
end

-- With its entry at t, where that is asked for.
local function counter(key, t)
  local c = counters[key]
  if not c then
    local got = t and call('HMGET', key, 's', 'h', 'x', t .. 'h', t .. 's') or call('HMGET', key, 's', 'h', 'x')
    c = { key = key, is_there = got[1] ~= false, s = tonumber(got[1]) or 0, h = tonumber(got[2]) or 0 }
    c.ends = tonumber(got[3]) or 0
    counters[key] = c
    if t then
      roll(c)
      c.entries[t] = got[4] and { tonumber(got[4]), tonumber(got[5]) or 0 }
    end
  elseif t then
    roll(c)
    if c.entries[t] == nil then
      local got = call('HMGET', key, t .. 'h', t .. 's')
      c.entries[t] = got[1] and { tonumber(got[1]), tonumber(got[2]) or 0 }
    end
  end
  return c
end

-- Adds to what is held and settled; of a rolling counter, at the entry of that time, if it still counts.
local function add(c, t, held, settled)
  local e = t and c.entries[t]
  if not c.is_there or (t and not e) then return end
  if e then
    e[1] = e[1] + held
    e[2] = e[2] + settled
    c.changed[t] = e
  end
  c.h = c.h + held
  c.s = c.s + settled
  c.is_changed = true
end

local function drop(c, times)
  local fields = {}
  for _, t in ipairs(times) do
    fields[#fields + 1] = t .. 'h'
    fields[#fields + 1] = t .. 's'
  end
  local got = call('HMGET', c.key, unpack(fields))
  for i, t in ipairs(times) do
    local e = c.entries[t]
    c.h = c.h - (e and e[1] or tonumber(got[i * 2 - 1]) or 0)
    c.s = c.s - (e and e[2] or tonumber(got[i * 2]) or 0)
    c.entries[t] = false
    c.changed[t] = nil
  end
  c.is_changed = true
  call('HDEL', c.key, unpack(fields))
  call('LTRIM', c.key .. ':t', #times, -1)
end

-- Drops of a rolling counter what does not count any more.
local function advance(c, window)
  -- Time stands still while a script runs.
  if c.window or not c.is_there then return end
  c.window = window
  roll(c)
  local list, past = c.key .. ':t', now - window
  c.oldest = call('LINDEX', list, 0) or nil
  if not c.oldest or tonumber(c.oldest) > past then return end
  c.last = call('LINDEX', list, -1)
  if tonumber(c.last) <= past then
    c.last = nil
    call('UNLINK', c.key, list)
    c.s, c.h, c.ends, c.entries, c.changed, c.oldest = 0, 0, 0, {}, {}, nil
    c.life, c.is_changed = window * 2 + 3600000, true
    return
  end
  local most = 16
  while tonumber(c.oldest) <= past do
    local times, over = call('LRANGE', list, 0, most - 1), {}
    for _, t in ipairs(times) do
      if tonumber(t) <= past then over[#over + 1] = t end
    end
    drop(c, over)
    c.oldest = times[#over + 1] or call('LINDEX', list, 0)
    most = math.min(most * 2, 1000)
  end
end

-- Enters an admission into a rolling counter; times never go back. Very many of them share a grain of the window.
local function enter(c, n, grain)
  if not c.t then
    roll(c)
    local list, t = c.key .. ':t', stamp
    if grain > 1 and call('LLEN', list) > 20000 then t = math.ceil(t / grain) * grain end
    local last = c.last or call('LINDEX', list, -1)
    if last and tonumber(last) > t then t = tonumber(last) end
    c.t = text(t)
    c.is_new_time = last ~= c.t
    if c.is_new_time then c.entries[c.t] = { 0, 0 } else counter(c.key, c.t) end
    c.oldest = c.oldest or c.t
  end
  add(c, c.t, n, 0)
  return tonumber(c.t)
end

-- A counter lives while it is used; a calendar window's got its end when it was made.
local function keep(c, code, window)
  if is_rolling(code) then c.life = window * 2 + 3600000
  elseif code % 10 == 6 or window == 0 then c.life = WEEK end
end

local function write(c)
  if not c.is_changed then return end
  local fields = { 's', text(c.s), 'h', text(c.h) }
  local expires = c.life and c.ends - now < c.life / 2
  if expires then
    c.ends = now + c.life
    fields[5], fields[6] = 'x', text(c.ends)
  end
  for t, e in pairs(c.changed or {}) do
    local n = #fields
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = t .. 'h', text(e[1]), t .. 's', text(e[2])
  end
  call('HSET', c.key, unpack(fields))
  if c.is_new_time then call('RPUSH', c.key .. ':t', c.t) end
  if expires then
    call('PEXPIRE', c.key, text(c.life))
    if c.window then call('PEXPIRE', c.key .. ':t', text(c.life)) end
  end
  c.is_changed, c.is_new_time = false, false
  if c.changed then c.changed = {} end
end

local function write_counters()
  for _, c in pairs(counters) do write(c) end
end

-- When so much will have ended to count; -1: there is not so much.
local function freed_at(c, over)
  write(c)
  local from, most, freed = 0, 10, 0
  while true do
    local times, fields = call('LRANGE', c.key .. ':t', from, from + most - 1), {}
    if #times == 0 then return -1 end
    for _, t in ipairs(times) do
      fields[#fields + 1] = t .. 'h'
      fields[#fields + 1] = t .. 's'
    end
    local got = call('HMGET', c.key, unpack(fields))
    for i, t in ipairs(times) do
      freed = freed + (tonumber(got[i * 2 - 1]) or 0) + (tonumber(got[i * 2]) or 0)
      if freed >= over then return tonumber(t) end
    end
    from, most = from + #times, math.min(most * 2, 1000)
  end
end
`
