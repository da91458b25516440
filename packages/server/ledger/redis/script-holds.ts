/**
 * Holds, as the scripts use them: what a script reads of an organization's holds it reads once, and writes once when it
 * leaves the organization (`leave_organization`).
 */
export const HOLDS = `
local base, holds, leases
-- Request id → state and record as they stand, false: none; those to write, with when to look at them; those to forget.
local known, looks, forgotten

local function enter_organization(key)
  holds, base = key, string.sub(key, 1, -6)
  leases = base .. 'leases'
  known, looks, forgotten = {}, {}, {}
end

local function learn(ids)
  if #ids == 0 then return end
  local got = call('HMGET', holds, unpack(ids))
  for i, id in ipairs(ids) do known[id] = got[i] end
end

local function state_of(id)
  if known[id] == nil then known[id] = call('HGET', holds, id) end
  return known[id] and string.sub(known[id], 1, 1)
end
local function record_of(id) return cmsgpack.unpack(string.sub(known[id], 2)) end

local function remember(id, state, r, look)
  known[id] = r and state .. cmsgpack.pack(r) or state
  looks[id] = look
end

local function leave_organization()
  local records, times = {}, {}
  for id, look in pairs(looks) do
    local n = #records
    records[n + 1], records[n + 2] = id, known[id]
    times[n + 1], times[n + 2] = text(look), id
  end
  if #forgotten > 0 then
    call('HDEL', holds, unpack(forgotten))
    call('ZREM', leases, unpack(forgotten))
  end
  if #records > 0 then
    call('HSET', holds, unpack(records))
    call('ZADD', leases, unpack(times))
  end
end

-- Turns what a record holds of each meter into what gone() says was used of it. Gives what each has settled then.
local function finish(r, running, gone)
  local settled = {}
  for i = FIRST, #r, 3 do
    local code = r[i + 1]
    local held, t = amount(code, r[2], r[3]), is_rolling(code) and text(r[i + 2])
    local c, n = counter(base .. r[i], t), gone(code, held)
    if running then add(c, t, -held, n)
    elseif code % 10 ~= 6 then add(c, t, 0, n - held) end
    settled[#settled + 1] = (t or code % 10 == 6) and 0 or c.s
  end
  return settled
end

-- Looks at what is due: a lease that ran out counts as used as held; what is over is forgotten.
local function sweep(most)
  local due = call('ZRANGEBYSCORE', leases, '-inf', '(' .. text(now), 'LIMIT', 0, most)
  local unknown, swept = {}, 0
  for _, id in ipairs(due) do
    if known[id] == nil then unknown[#unknown + 1] = id end
  end
  learn(unknown)
  for _, id in ipairs(due) do
    -- What this script has touched is due no more.
    if not looks[id] then
      if state_of(id) == 'r' then
        local r = record_of(id)
        finish(r, true, whole)
        remember(id, 'w', r, now + SWEPT)
        swept = swept + 1
      else
        known[id] = false
        forgotten[#forgotten + 1] = id
      end
    end
  end
  return swept
end
`
