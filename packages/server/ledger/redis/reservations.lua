-- Prepended to every script after counters.lua: reservations.
--
-- Guarantee: a script reads each reservation at most once. What it has changed of an organization, counters included, is
-- written by leave_organization(). One script may enter several organizations, one after the other.

local reservations, leases, index, mark_prefix
-- By request id: state and record or mark, false: none; the new time in `leases` of those to write; new marks; the records to add to
-- the index. Lists of ids to delete and of members to remove from the index.
local known, lease_times, marks, forgotten, indexed, unindexed

-- `key`: the key of the organization's reservations. A script enters each organization once.
local function enter_organization(key)
  local base = string.sub(key, 1, -#'reservations' - 1)
  reservations, leases, index, mark_prefix = key, base .. 'leases', base .. 'index', base .. 'mark:'
  counter_prefix, list_prefix, names, counters = base .. 'counter:', base .. 'times:', base .. 'meters', {}
  known, lease_times, marks, forgotten, indexed, unindexed = {}, {}, {}, {}, {}, {}
  most_entries = nil
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

-- The index finds the reservations that a new counter may count without reading those of others. Its members are compared as texts,
-- so all of one project, environment, key or end user are neighbors. Each name ends with a zero byte, so that `a` does not find `ab`.
-- The time of arrival passes over those before a window without reading them: at its begin, that is nearly all.

-- Returns the members of a reservation in the index; the second one only where the request names an end user.
local function members_of(id, record)
  local project, environment, key, end_user = record[7], record[8], record[9], record[10]
  local rest = '\0' .. text(record[4]) .. '\0' .. id
  local member = 's' .. project .. '\0' .. environment .. '\0' .. key .. rest
  if end_user == '' then return member end
  return member, 'u' .. end_user .. '\0' .. environment .. rest
end

-- Adds what the members of all reservations begin with that a meter of this subject and window may count to `prefixes`, which maps it
-- to the earliest time of arrival. '': any.
local function add_prefix(prefixes, since, project, environment, key, end_user)
  local prefix, path = 's', { project, environment, key }
  if end_user ~= '' then prefix, path = 'u', { end_user, environment } end
  for _, name in ipairs(path) do
    if name == '' then break end
    prefix = prefix .. name .. '\0'
  end
  prefixes[prefix] = math.min(since, prefixes[prefix] or since)
end

-- Calls visit(id, value) once for each reservation with one of these prefixes that did not arrive before its time. The visitor decides
-- by the record whether a meter counts it. Returns what that took of the server: the records read, and a tenth of the members passed over.
local function each_with_prefix(prefixes, visit)
  -- Reading all without the index takes half as long, where most of them arrived within the window.
  if prefixes.s and prefixes.s < now - 60000 then
    local all = call('HGETALL', reservations)
    for i = 1, #all, 2 do visit(all[i], all[i + 1]) end
    return #all / 2
  end
  local ids, seen, looked_at = {}, {}, 0
  for prefix, since in pairs(prefixes) do
    local members = call('ZRANGEBYLEX', index, '[' .. prefix, '(' .. prefix .. '\255')
    looked_at = looked_at + #members
    for _, member in ipairs(members) do
      local arrived_at, id = string.match(member, '%z(%d+)%z([^%z]*)$')
      if tonumber(arrived_at) >= since and not seen[id] then
        ids[#ids + 1] = id
        seen[id] = true
      end
    end
  end
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    local values = call('HMGET', reservations, unpack(ids, first, last))
    for i, value in ipairs(values) do
      if value then visit(ids[first + i - 1], value) end
    end
  end
  return #ids + math.ceil((looked_at - #ids) / 10)
end

local function has_record(id) return known[id] and #known[id] > 1 end

-- `time`: when to expire or forget it.
local function save(id, state, record, time)
  if not has_record(id) then indexed[id] = record end
  known[id] = state .. cmsgpack.pack(record)
  lease_times[id] = time
end

-- Deletes a reservation, if there is one. `mark`: the state without record that replaces it; nil: none.
local function forget(id, mark)
  if has_record(id) then
    for _, member in ipairs({ members_of(id, record_of(id)) }) do unindexed[#unindexed + 1] = member end
  end
  indexed[id] = nil
  forgotten[#forgotten + 1] = id
  known[id], marks[id], lease_times[id] = mark or false, mark, nil
end

local function leave_organization()
  local values, times, members = {}, {}, {}
  for id, time in pairs(lease_times) do
    local n = #values
    values[n + 1], values[n + 2] = id, known[id]
    times[n + 1], times[n + 2] = text(time), id
  end
  for id, record in pairs(indexed) do
    for _, member in ipairs({ members_of(id, record) }) do
      local n = #members
      members[n + 1], members[n + 2] = '0', member
    end
  end
  if #forgotten > 0 then
    call('HDEL', reservations, unpack(forgotten))
    call('ZREM', leases, unpack(forgotten))
  end
  if #unindexed > 0 then call('ZREM', index, unpack(unindexed)) end
  if #values > 0 then
    call('HSET', reservations, unpack(values))
    call('ZADD', leases, unpack(times))
  end
  if #members > 0 then call('ZADD', index, unpack(members)) end
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
        forget(id)
      end
    end
  end
  return expired
end
