import { COMMON_OF_ONE } from './script-base.ts'

// How a counter begins, and how a server that lost what runs is told of it. The keys: see script-base.ts.

/**
 * The requests that a new counter learns of from here, not from its seed. ARGV: now; then six a meter: project,
 * environment, key, end user (empty: any), since, until (0: none). Gives their ids.
 */
export const KNOWN = `${COMMON_OF_ONE}
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
export const SEED = `${COMMON_OF_ONE}
local name, code, window = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = base .. name
local list = key .. ':t'
if call('HEXISTS', key, 's') == 1 then return -1 end
call('DEL', key, list)
local rolling = is_rolling(code)
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
export const RESTORE = `${COMMON_OF_ONE}
local id = ARGV[2]
if state_of(id) then return 0 end
local tokens, nano = tonumber(ARGV[4]), tonumber(ARGV[5])
local r = {
  tonumber(ARGV[12]), tokens, nano, tonumber(ARGV[6]), 1, 0, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11],
}
for a = 13, #ARGV, 3 do
  local c, code, t = counter(base .. ARGV[a]), tonumber(ARGV[a + 1]), 0
  -- A counter that is not there yet learns of it when it is seeded.
  if c.is_there then
    if is_rolling(code) then t = enter(c, amount(code, tokens, nano), tonumber(ARGV[a + 2]))
    else add(c, nil, amount(code, tokens, nano), 0) end
  end
  r[#r + 1] = ARGV[a]
  r[#r + 1] = code
  r[#r + 1] = t
end
remember(id, 'r', r, now + tonumber(ARGV[3]))
leave_organization()
write_counters()
return 1
`
