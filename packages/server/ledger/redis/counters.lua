-- Prepended to every script after base.lua: counters.
--
-- Guarantee: a script reads each counter at most once and writes it at most once, in leave_organization(), however many
-- operations change it. One Redis command costs as much as ten of these functions.
--
-- Guarantee: a script expires about 20,000 entries and searches 5,000 at most, and 70 more of each counter, so that small counters are
-- exact whatever others have. Redis runs nothing else meanwhile: 180,000 entries take 361 ms. Entries beyond it count until a later
-- script, and a search beyond it finds the latest entry, so that no request is admitted and no wait ends too early.
--
-- A counter is a table: name, the meter's key; key, of its hash; exists; settled; reserved; used_at (ms); is_used: by this script;
-- life: ms to live from a use on; nil: what it has. A rolling counter also has: list, the key of its list; entries: time as text ->
-- { reserved, settled }, or false: no longer counted; changed: the entries to write; oldest: first time that counts, known after
-- expire_entries(); new_time: the time at which this script adds; is_new_time: the list lacks that time yet.

-- Start of the keys of the current organization's counters and lists, the set of all their names, and those of this script by name;
-- see enter_organization(). The prefixes differ, since callers choose a part of the name and must not be able to name another
-- counter's list.
local counter_prefix, list_prefix, names, counters

-- Of how many admissions the rolling counters of an organization keep the time: with those that they merge, they take 350 MB at most.
-- And of how many each of them does; nil: not known yet.
local MAX_ENTRIES = 1000000
local most_entries

-- How many entries beyond the first ones of each counter this script may still expire, and search.
local expiry_budget, search_budget = 20000, 5000

local function make_rolling(c)
  if not c.entries then c.list, c.entries, c.changed = list_prefix .. c.name, {}, {} end
end

-- Returns the counter of a meter of the current organization. `time`: of a rolling counter, the entry to read too.
local function get_counter(name, time)
  local c = counters[name]
  if not c then
    local key = counter_prefix .. name
    local got = time and call('HMGET', key, 's', 'r', 'u', time .. 'r', time .. 's') or call('HMGET', key, 's', 'r', 'u')
    c = {
      name = name, key = key, exists = got[1] ~= false,
      settled = tonumber(got[1]) or 0, reserved = tonumber(got[2]) or 0, used_at = tonumber(got[3]) or 0,
    }
    counters[name] = c
    if time then
      make_rolling(c)
      c.entries[time] = got[4] and { tonumber(got[4]), tonumber(got[5]) or 0 }
    end
  elseif time then
    make_rolling(c)
    if c.entries[time] == nil then
      local got = call('HMGET', c.key, time .. 'r', time .. 's')
      c.entries[time] = got[1] and { tonumber(got[1]), tonumber(got[2]) or 0 }
    end
  end
  return c
end

-- Adds to the sums of a counter and, if it is rolling, to the entry of this time. Does nothing where that entry has expired.
local function add(c, time, reserved, settled)
  local entry = time and c.entries[time]
  if not c.exists or (time and not entry) then return end
  if entry then
    entry[1] = entry[1] + reserved
    entry[2] = entry[2] + settled
    c.changed[time] = entry
  end
  c.reserved = c.reserved + reserved
  c.settled = c.settled + settled
  c.is_changed = true
end

-- Removes the entries of the first #times times of a rolling counter.
local function remove_entries(c, times)
  local fields = {}
  for _, time in ipairs(times) do
    fields[#fields + 1] = time .. 'r'
    fields[#fields + 1] = time .. 's'
  end
  local got = call('HMGET', c.key, unpack(fields))
  for i, time in ipairs(times) do
    local entry = c.entries[time]
    c.reserved = c.reserved - (entry and entry[1] or tonumber(got[i * 2 - 1]) or 0)
    c.settled = c.settled - (entry and entry[2] or tonumber(got[i * 2]) or 0)
    c.entries[time] = false
    c.changed[time] = nil
  end
  c.is_changed = true
  call('HDEL', c.key, unpack(fields))
  call('LTRIM', c.list, #times, -1)
end

-- Removes the entries of a rolling counter that have left the window, within the budget. `oldest` of a counter that keeps some of them
-- is the earliest time within the window.
local function expire_entries(c, window)
  -- Time does not change within a script.
  if c.window or not c.exists then return end
  c.window = window
  make_rolling(c)
  local list, past = c.list, now - window
  c.oldest = call('LINDEX', list, 0) or nil
  if not c.oldest or tonumber(c.oldest) > past then return end
  c.latest = call('LINDEX', list, -1)
  if tonumber(c.latest) <= past then
    call('UNLINK', c.key, list)
    c.settled, c.reserved, c.used_at, c.entries, c.changed = 0, 0, 0, {}, {}
    c.latest, c.oldest = nil, nil
    c.life, c.is_used, c.is_changed = window * 2 + 3600000, true, true
    return
  end
  local most, looked_at = 16, 0
  while tonumber(c.oldest) <= past do
    if looked_at >= 48 then
      most = math.min(most, expiry_budget)
      expiry_budget = expiry_budget - most
      if most == 0 then
        c.oldest = text(past + 1)
        return
      end
    end
    local times, expired = call('LRANGE', list, 0, most - 1), {}
    for _, time in ipairs(times) do
      if tonumber(time) <= past then expired[#expired + 1] = time end
    end
    remove_entries(c, expired)
    c.oldest = times[#expired + 1] or call('LINDEX', list, 0)
    looked_at = looked_at + most
    most = math.min(most * 2, 1000)
  end
end

-- Returns how many entries a rolling counter keeps before it merges new ones: the more counters its organization has, the fewer.
local function get_most_entries()
  if not most_entries then
    most_entries = math.min(MAX_ROLLING_ENTRIES, math.ceil(MAX_ENTRIES / math.max(1, call('ZCARD', names))))
  end
  return most_entries
end

-- Returns the end of the slot of a time, of as many slots as a window of this length (ms) has.
local function round_up(time, window)
  local slot = math.max(1, math.ceil(window / get_most_entries()))
  return math.ceil(time / slot) * slot
end

-- Adds an admission to a rolling counter and returns the time of its entry. Times never go back. With very many times in the list, the
-- time is rounded up to the end of its slot.
local function add_entry(c, amount, window)
  if not c.new_time then
    make_rolling(c)
    local time = entry_time
    if call('LLEN', c.list) > get_most_entries() then time = round_up(time, window) end
    local latest = c.latest or call('LINDEX', c.list, -1)
    if latest and tonumber(latest) > time then time = tonumber(latest) end
    c.new_time = text(time)
    c.is_new_time = latest ~= c.new_time
    if c.is_new_time then c.entries[c.new_time] = { 0, 0 } else get_counter(c.name, c.new_time) end
    c.oldest = c.oldest or c.new_time
  end
  add(c, c.new_time, amount, 0)
  return tonumber(c.new_time)
end

-- Prolongs the life of a counter that is used. `window`: length in ms of a rolling window; 0: `total` or concurrency, which
-- live while they are used; -1: a calendar window, whose end was set when its counter was created.
local function keep_alive(c, code, window)
  c.is_used = true
  if IS_ROLLING[code] then c.life = window * 2 + 3600000
  elseif window == 0 then c.life = WEEK end
end

-- Keeps the names of the counters for at least `life` ms, so that no counter outlives its name.
local function keep_names(life)
  if call('PTTL', names) < life then call('PEXPIRE', names, text(life)) end
end

local function write_counter(c)
  if not c.is_changed then return end
  local fields = { 's', text(c.settled), 'r', text(c.reserved) }
  -- Not at each use: an expiry costs as much as the counter itself.
  local is_noted = c.is_used and now - c.used_at >= USE_KEPT
  if is_noted then
    c.used_at = now
    fields[5], fields[6] = 'u', text(now)
  end
  for time, entry in pairs(c.changed or {}) do
    local n = #fields
    fields[n + 1], fields[n + 2] = time .. 'r', text(entry[1])
    fields[n + 3], fields[n + 4] = time .. 's', text(entry[2])
  end
  call('HSET', c.key, unpack(fields))
  local is_new_list = c.is_new_time and call('RPUSH', c.list, c.new_time) == 1
  if is_noted and c.life then
    call('PEXPIRE', c.key, text(c.life))
    if c.window then call('PEXPIRE', c.list, text(c.life)) end
    keep_names(c.life)
  elseif is_new_list then
    -- An earlier script has removed the list with all that had left the window.
    local life = call('PTTL', c.key)
    if life > 0 then call('PEXPIRE', c.list, text(life)) end
  end
  c.is_changed, c.is_new_time = false, false
  if c.changed then c.changed = {} end
end

-- Returns the time of the entry with whose expiry `amount` will have expired, or of the latest entry where the budget does not reach
-- that one; -1: less than that is counted. Call it after expire_entries().
local function find_blocking_at(c, amount)
  write_counter(c)
  local from, most, sum = 0, 10, 0
  while true do
    if from >= 70 then
      most = math.min(most, search_budget)
      search_budget = search_budget - most
      if most == 0 then return tonumber(call('LINDEX', c.list, -1)) end
    end
    local times, fields = call('LRANGE', c.list, from, from + most - 1), {}
    if #times == 0 then return -1 end
    for _, time in ipairs(times) do
      fields[#fields + 1] = time .. 'r'
      fields[#fields + 1] = time .. 's'
    end
    local got = call('HMGET', c.key, unpack(fields))
    for i, time in ipairs(times) do
      sum = sum + (tonumber(got[i * 2 - 1]) or 0) + (tonumber(got[i * 2]) or 0)
      -- An entry that a later script expires has left the window by then.
      if sum >= amount then return math.max(tonumber(time), now - c.window + 1) end
    end
    from, most = from + #times, math.min(most * 2, 1000)
  end
end
