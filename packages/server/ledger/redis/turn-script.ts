import { COMMON } from './script-base.ts'

/**
 * What requests ask, as one call for all that asked in one turn of the gateway's event loop: each operation whole or not
 * at all, in their order. Counters and holds are read and written once a call (script-base.ts); Turns makes its arguments.
 *
 * KEYS: the holds of each organization. ARGV: now; then as JSON a list of
 * - owner: the process that asks
 * - subjects: a list each of project, environment, key, end user; empty: none
 * - meters: a list each of key, code, limit, window ms, grain ms
 * - work: in the order of KEYS, a list of each organization's operations
 *
 * Operations, with their replies. Places are those of `subjects` and `meters`, from 1 on:
 * - a, id, lease ms, tokens, nano-dollars, at, subject's place, meters' places: admits.
 *   1 and settled, held, oldest of each meter; or 0 and index, settled, held, oldest, freed at of each that refuses; or 2
 *   and the indices of those that have no counter yet; 3: it runs already; 4: it was given back before
 * - e, id, lease ms, tokens, nano-dollars, meters' places as admitted: makes the hold this large.
 *   As of an admission; 4: there is no such hold any more
 * - s, id, requests, tokens, nano-dollars, sandbox (0 or 1): settles.
 *   What each meter has settled then (0 where that is not asked of it); nothing where there is no such hold
 * - r, id: gives back. What is not known yet is marked, so that an admission that comes late holds nothing. Nothing
 *
 * Gives one string of doubles, little-endian, which a client reads faster than anything that Redis would make of them: now;
 * then of each operation, in the order of `work`, how many numbers its reply has, and these.
 */
export const TURN = `${COMMON}
local owner, subjects, meters, work = unpack(cjson.decode(ARGV[2]))
local has_swept

local function standing(out, c, more)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3] = c.s, c.h + more, tonumber(c.oldest or -1)
end
local function refuse(refused, index, c, code, more, limit)
  local over, freed = more - (limit - c.s - c.h), -1
  if is_rolling(code) and more <= limit then freed = freed_at(c, over) end
  for _, value in ipairs({ index - 1, c.s, c.h, tonumber(c.oldest or -1), freed }) do refused[#refused + 1] = value end
end

local DO = {}

function DO.a(id, lease, tokens, nano, at, subject, places)
  local state = state_of(id)
  if not has_swept then sweep(100) end
  has_swept = true
  if state then return { state == 'r' and 3 or 4 } end
  local missing, refused = { 2 }, { 0 }
  for i, place in ipairs(places) do
    local key, code, limit, window = unpack(meters[place])
    local c, more = counter(base .. key), amount(code, tokens, nano)
    if is_rolling(code) then advance(c, window) end
    if not c.is_there then missing[#missing + 1] = i - 1
    elseif more > limit - c.s - c.h then refuse(refused, i, c, code, more, limit) end
  end
  if #missing > 1 then return missing end
  if #refused > 1 then return refused end
  local project, environment, key, user = unpack(subjects[subject])
  local r, out = { stamp, tokens, nano, at, 1, 0, project, environment, key, user, owner }, { 1 }
  for _, place in ipairs(places) do
    local name, code, _, window, grain = unpack(meters[place])
    local c, more, t = counter(base .. name), amount(code, tokens, nano), 0
    if is_rolling(code) then t = enter(c, more, grain) else add(c, nil, more, 0) end
    keep(c, code, window)
    standing(out, c, 0)
    local n = #r
    r[n + 1], r[n + 2], r[n + 3] = name, code, t
  end
  remember(id, 'r', r, now + lease)
  return out
end

-- The request was not dead after all: what counted as used is held again.
local function hold_again(r)
  for i = FIRST, #r, 3 do
    local code = r[i + 1]
    local t, held = is_rolling(code) and text(r[i + 2]), amount(code, r[2], r[3])
    add(counter(base .. r[i], t), t, held, -whole(code, held))
  end
end

function DO.e(id, lease, tokens, nano, places)
  local state = state_of(id)
  if state ~= 'r' and state ~= 'w' then return { 4 } end
  local r = record_of(id)
  if state == 'w' then hold_again(r) end
  local out, refused = { 1 }, { 0 }
  for i, place in ipairs(places) do
    local key, code, limit, window = unpack(meters[place])
    local c = counter(base .. key)
    if is_rolling(code) then advance(c, window) end
    local more = amount(code, tokens, nano) - amount(code, r[2], r[3])
    if more > 0 and more > limit - c.s - c.h then refuse(refused, i, c, code, more, limit) end
    standing(out, c, more)
  end
  if #refused == 1 then
    for i = FIRST, #r, 3 do
      local code = r[i + 1]
      local t, more = is_rolling(code) and text(r[i + 2]), amount(code, tokens, nano) - amount(code, r[2], r[3])
      if more ~= 0 then add(counter(base .. r[i], t), t, more, 0) end
    end
    r[2], r[3] = tokens, nano
  end
  remember(id, 'r', r, now + lease)
  return #refused == 1 and out or refused
end

function DO.s(id, requests, tokens, nano, sandbox)
  local state = state_of(id)
  if state ~= 'r' and state ~= 'w' then return {} end
  local r = record_of(id)
  local settled = finish(r, state == 'r', function(code) return used(code, requests, tokens, nano, sandbox) end)
  local done = { r[1], tokens, nano, r[4], requests, sandbox, r[7], r[8], r[9], r[10], r[11] }
  remember(id, 'd', done, now + RECENT)
  return settled
end

function DO.r(id)
  local state = state_of(id)
  if state == 'd' or state == 'x' then return {} end
  if state then finish(record_of(id), state == 'r', function() return 0 end) end
  remember(id, 'x', nil, now + 600000)
  return {}
end

local replies = { now }
local function reply(values)
  local n = #replies + 1
  replies[n] = #values
  for i, value in ipairs(values) do replies[n + i] = value end
end
local function packed()
  local parts = {}
  for i = 1, #replies, 1000 do
    local last = math.min(i + 999, #replies)
    parts[#parts + 1] = struct.pack('<' .. string.rep('d', last - i + 1), unpack(replies, i, last))
  end
  return table.concat(parts)
end

for place, operations in ipairs(work) do
  enter_organization(KEYS[place])
  has_swept = false
  local ids = {}
  for i, operation in ipairs(operations) do ids[i] = operation[2] end
  learn(ids)
  for _, operation in ipairs(operations) do
    reply(DO[operation[1]](unpack(operation, 2)))
  end
  leave_organization()
end
write_counters()
return packed()
`
