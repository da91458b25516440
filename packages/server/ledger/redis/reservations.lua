-- Prepended to every script after counters.lua: reservations.
--
-- Guarantee: a script reads each reservation at most once. What it has changed of an organization, counters included, is
-- written by leave_organization(). One script may enter several organizations, one after the other.

local reservations, leases, mark_prefix
-- By request id: state and record or mark, false: none; the new time in `leases` of those to write; new marks. A list of ids to
-- delete.
local known, lease_times, marks, forgotten

-- `key`: the key of the organization's reservations. A script enters each organization once.
local function enter_organization(key)
  local base = string.sub(key, 1, -#'reservations' - 1)
  reservations, leases, mark_prefix = key, base .. 'leases', base .. 'mark:'
  counter_prefix, list_prefix, counters = base .. 'counter:', base .. 'times:', {}
  known, lease_times, marks, forgotten = {}, {}, {}, {}
end

local function load_reservations(ids)
  if #ids == 0 then return end
  local got, others, keys = call('HMGET', reservations, unpack(ids)), {}, {}
  for i, id in ipairs(ids) do
    known[id] = got[i]
    if not got[i] then
      local n = #others + 1
      others[n], keys[n] = id, mark_prefix .. id
    end
  end
  if #others == 0 then return end
  got = call('MGET', unpack(keys))
  for i, id in ipairs(others) do known[id] = got[i] end
end

-- Returns the state of a reservation; false: none.
local function state_of(id)
  if known[id] == nil then load_reservations({ id }) end
  return known[id] and string.sub(known[id], 1, 1)
end

local function unpack_record(value) return cmsgpack.unpack(string.sub(value, 2)) end

local function record_of(id) return unpack_record(known[id]) end

-- Returns a text that occurs in the packed record of each request that a meter of this subject may count; '': in all. Searching it
-- costs a fraction of unpacking the record.
local function needle_of(project, environment, key, end_user)
  for _, name in ipairs({ end_user, key, environment }) do
    if name ~= '' then return name end
  end
  return project
end

-- `time`: when to expire or forget it.
local function save(id, state, record, time)
  known[id] = state .. cmsgpack.pack(record)
  lease_times[id] = time
end

-- Replaces a reservation, if there is one, by a state without record.
local function save_mark(id, state)
  if known[id] then forgotten[#forgotten + 1] = id end
  known[id], marks[id], lease_times[id] = state, state, nil
end

local function leave_organization()
  local values, times = {}, {}
  for id, time in pairs(lease_times) do
    local n = #values
    values[n + 1], values[n + 2] = id, known[id]
    times[n + 1], times[n + 2] = text(time), id
  end
  if #forgotten > 0 then
    call('HDEL', reservations, unpack(forgotten))
    call('ZREM', leases, unpack(forgotten))
  end
  if #values > 0 then
    call('HSET', reservations, unpack(values))
    call('ZADD', leases, unpack(times))
  end
  for id, mark in pairs(marks) do call('SET', mark_prefix .. id, mark, 'PX', MARK_KEPT) end
  for _, c in pairs(counters) do write_counter(c) end
end

-- Replaces what a reservation counts on each meter by what used(code, reserved) returns. Returns the settled amount of each
-- meter, 0 for rolling ones. `is_running`: false where the reservation has expired.
local function finish(record, is_running, used)
  local settled, tokens, nano_usd = {}, record[2], record[3]
  for i = FIRST_SHARE, #record, 3 do
    local code = record[i + 1]
    local reserved = reserved_amount(code, tokens, nano_usd)
    local time = IS_ROLLING[code] and text(record[i + 2])
    local c, amount = get_counter(record[i], time), used(code, reserved)
    if is_running then add(c, time, -reserved, amount)
    else add(c, time, 0, amount - expired_amount(code, reserved)) end
    settled[#settled + 1] = time and 0 or c.settled
  end
  return settled
end

-- Expires up to `most` reservations whose lease has run out and forgets those that were kept long enough. Returns how many
-- expired.
local function expire_leases(most)
  local due = call('ZRANGEBYSCORE', leases, '-inf', '(' .. text(now), 'LIMIT', 0, most)
  local unknown, expired = {}, 0
  for _, id in ipairs(due) do
    if known[id] == nil then unknown[#unknown + 1] = id end
  end
  load_reservations(unknown)
  for _, id in ipairs(due) do
    -- A reservation that this script has saved has a new time and is not due any more.
    if not lease_times[id] then
      if state_of(id) == RUNNING then
        local record = record_of(id)
        finish(record, true, expired_amount)
        save(id, EXPIRED, record, now + EXPIRED_KEPT)
        expired = expired + 1
      else
        known[id] = false
        forgotten[#forgotten + 1] = id
      end
    end
  end
  return expired
end
