-- Creates counters from their seeds and from the requests that Redis knows, unless another process has created them.
--
-- Guarantee: each request that a meter counts is contained in its counter once, either in the seed or from its reservation. Running
-- and expired reservations get a share of the counter, so that they are settled in it too.
--
-- Guarantee: the organization has no more counters than it may have, if enough of them count no running request and were not used within
-- RECENT; no more than twice as many otherwise. Those that were used the longest time ago are deleted first. They are created again, with
-- their usage, by the next request that needs them.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now; how many counters the organization may have; then as JSON a list of counters, each a list of key, code, window (ms, see
-- keep_alive), life (ms), project, environment, key, end user ('': any), since, until (ms; 0: no end), used, and of a rolling counter's
-- seed the list of its entries: at (ms), amount, at, amount and so on.
-- Returns the settled amount of each; -1: the counter existed.

enter_organization(KEYS[1])

-- Returns a counter that does not exist yet, with its seed.
local function to_counter(row)
  local name, code, window, life, project, environment, key_id, end_user, since, until_, used, seed = unpack(row)
  local c = {
    name = name, code = code, window = window, life = life, is_rolling = IS_ROLLING[code],
    project = project, environment = environment, key_id = key_id, end_user = end_user, since = since, until_ = until_,
    settled = 0, reserved = 0, times = {}, entries = {},
  }
  return c, used, seed
end

local function count(c, time, reserved, settled)
  if c.is_rolling then
    if time <= now - c.window then return end
    local entry = c.entries[time]
    if not entry then
      entry = { 0, 0 }
      c.entries[time] = entry
      c.times[#c.times + 1] = time
    end
    entry[1] = entry[1] + reserved
    entry[2] = entry[2] + settled
  end
  c.reserved = c.reserved + reserved
  c.settled = c.settled + settled
end

local function count_reservation(c, state, r)
  local at, tokens, nano_usd, requests, sandbox = r[1], r[2], r[3], r[5], r[6]
  local reserved = reserved_amount(c.code, tokens, nano_usd)
  if state == RUNNING then count(c, at, reserved, 0)
  elseif state == EXPIRED then count(c, at, 0, expired_amount(c.code, reserved))
  else count(c, at, 0, settled_amount(c.code, requests, tokens, nano_usd, sandbox)) end
end

-- Gives a reservation a share of the counter, or replaces the one that it has of an earlier counter of this key.
local function set_share(c, record)
  local at = #record + 1
  for i = FIRST_SHARE, #record, 3 do
    if record[i] == c.name then at = i end
  end
  record[at], record[at + 1], record[at + 2] = c.name, c.code, c.is_rolling and record[1] or 0
end

local function write_new_counter(c)
  local key, list = counter_prefix .. c.name, list_prefix .. c.name
  call('DEL', key, list)
  call('HSET', key, 's', text(c.settled), 'r', text(c.reserved))
  table.sort(c.times)
  for first = 1, #c.times, 1000 do
    local times, fields = {}, {}
    for i = first, math.min(first + 999, #c.times) do
      local entry, n, t = c.entries[c.times[i]], #fields, text(c.times[i])
      times[#times + 1] = t
      fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = t .. 'r', text(entry[1]), t .. 's', text(entry[2])
    end
    call('RPUSH', list, unpack(times))
    call('HSET', key, unpack(fields))
  end
  call('PEXPIRE', key, text(c.life))
  if c.is_rolling then call('PEXPIRE', list, text(c.life)) end
  call('ZADD', names, text(now), c.name)
  keep_names(c.life)
end

-- The counters looked at to delete some: as many as are too many and MORE_CANDIDATES, MAX_CANDIDATES at most.
local MORE_CANDIDATES, MAX_CANDIDATES = 16, 64
-- What was settled within this time (ms) may not be in PostgreSQL yet, where a seed would look for it: another process may be behind.
local RECENT = 300000

-- Deletes counters where there are too many. `most`: how many there may be; `coming`: how many will be created. Does not delete what
-- counts a running request: its `extend` is checked against the counter.
local function make_room(most, coming)
  local excess = call('ZCARD', names) + coming - most
  if excess <= 0 then return end
  local last = math.min(excess + MORE_CANDIDATES, MAX_CANDIDATES) - 1
  local got, candidates, deleted, kept = call('ZRANGE', names, 0, last, 'WITHSCORES'), {}, {}, {}
  for i = 1, #got, 2 do
    local name, values = got[i], call('HMGET', counter_prefix .. got[i], 's', 'r', 'u')
    if not values[1] then
      deleted[#deleted + 1] = name
      call('UNLINK', list_prefix .. name)
    elseif values[2] ~= '0' then candidates[#candidates + 1] = { name, now, true }
    else candidates[#candidates + 1] = { name, math.max(tonumber(got[i + 1]), tonumber(values[3]) or 0) } end
  end
  -- What has expired is gone already.
  table.sort(candidates, function(a, b) return a[2] < b[2] end)
  for _, candidate in ipairs(candidates) do
    local name, used_at, is_running = unpack(candidate)
    local too_many = used_at < now - RECENT and excess or excess - most
    if #deleted < too_many and not is_running then
      deleted[#deleted + 1] = name
      call('UNLINK', counter_prefix .. name, list_prefix .. name)
    else
      kept[#kept + 1] = text(used_at)
      kept[#kept + 1] = name
    end
  end
  if #deleted > 0 then call('ZREM', names, unpack(deleted)) end
  if #kept > 0 then call('ZADD', names, unpack(kept)) end
end

local replies, new = {}, {}
for i, row in ipairs(cjson.decode(ARGV[3])) do
  replies[i] = -1
  if call('HEXISTS', counter_prefix .. row[1], 's') == 0 then
    local c, used, seed = to_counter(row)
    c.index = i
    new[#new + 1] = c
    if not c.is_rolling then count(c, 0, 0, used) end
    for e = 1, #seed, 2 do
      local time = math.min(seed[e], entry_time)
      if #c.times > get_most_entries() then time = round_up(time, c.window) end
      count(c, time, 0, seed[e + 1])
    end
  end
end
if #new == 0 then return replies end
make_room(tonumber(ARGV[2]), #new)

local prefixes, shared = {}, {}
for _, c in ipairs(new) do add_prefix(prefixes, c.since, c.project, c.environment, c.key_id, c.end_user) end
each_with_prefix(prefixes, function(id, value)
  local state, record, has_share = string.sub(value, 1, 1), unpack_record(value), false
  for _, c in ipairs(new) do
    if counts_request(record, c.project, c.environment, c.key_id, c.end_user, c.since, c.until_) then
      count_reservation(c, state, record)
      if state ~= SETTLED then
        set_share(c, record)
        has_share = true
      end
    end
  end
  if has_share then
    local n = #shared
    shared[n + 1], shared[n + 2] = id, state .. cmsgpack.pack(record)
  end
end)
for first = 1, #shared, 1000 do
  call('HSET', reservations, unpack(shared, first, math.min(first + 999, #shared)))
end

for _, c in ipairs(new) do
  write_new_counter(c)
  replies[c.index] = c.settled
end
call('PEXPIRE', reservations, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
call('PEXPIRE', index, text(WEEK))
return replies
