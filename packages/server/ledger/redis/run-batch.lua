-- Runs the operations that requests of one gateway process asked for together, in order.
--
-- Guarantee: each operation takes effect on all its meters or on none. A reservation is admitted only where
-- settled + reserved + wanted <= limit holds for every meter.
--
-- KEYS: the reservations of each organization.
-- ARGV: now; then as JSON a list of
--   owner     id of the gateway process
--   subjects  a list each of project, environment, key, end user; '': none
--   meters    a list each of key, code, limit, window (ms, see keep_alive)
--   work      for each of KEYS, the list of the organization's operations
--
-- An operation is a list that begins with its name. Meters and subjects are given by their positions in the lists above,
-- from 1 on. Operations and the numbers that they reply:
--   'reserve', id, lease ms, tokens, nano-dollars, time of arrival by the gateway's clock, subject, meters
--       1, then settled, reserved, oldest of each meter: admitted
--       0, then index, settled, reserved, oldest, blocking time of each meter that refuses; the index counts from 0
--       2, then the indices, from 0 on, of the meters that have no counter yet: nothing was done
--       3: a reservation of this id is running
--       4: the id was settled or released before
--   'extend', id, lease ms, tokens, nano-dollars, meters as in its 'reserve'
--       1, 0 or 2 as above; 4: the reservation has ended
--   'settle', id, requests, tokens, nano-dollars, sandbox (0 or 1)
--       the settled amount of each meter, 0 for rolling ones; nothing where there is no such reservation
--   'release', id
--   'withdraw', id, where the reply to its 'reserve' did not arrive
--       nothing. An unknown id is marked, so that an admission that arrives late reserves nothing
-- `oldest` and the blocking time are times of entries of rolling counters; -1: none.
--
-- Returns one string of little-endian doubles, the format that is fastest to read for the client: now; then for each
-- operation, in the order of `work`, how many numbers it replies, and these numbers.

local owner, subjects, meters, work = unpack(cjson.decode(ARGV[2]))
-- In the current organization, leases have been expired.
local has_expired_leases

local function append_status(out, c, growth)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3] = c.settled, c.reserved + growth, tonumber(c.oldest or -1)
end

local function append_refusal(out, index, c, code, wanted, limit)
  local excess, blocking_at = wanted - (limit - c.settled - c.reserved), -1
  if IS_ROLLING[code] and wanted <= limit then blocking_at = find_blocking_at(c, excess) end
  local n = #out
  out[n + 1], out[n + 2], out[n + 3] = index - 1, c.settled, c.reserved
  out[n + 4], out[n + 5] = tonumber(c.oldest or -1), blocking_at
end

local OPERATIONS = {}

function OPERATIONS.reserve(id, lease, tokens, nano_usd, arrived_at, subject, positions)
  local state = state_of(id)
  if not has_expired_leases then expire_leases(100) end
  has_expired_leases = true
  if state then return { state == RUNNING and 3 or 4 } end
  local missing, refusals = { 2 }, { 0 }
  for i, position in ipairs(positions) do
    local key, code, limit, window = unpack(meters[position])
    local c, wanted = get_counter(key), reserved_amount(code, tokens, nano_usd)
    if IS_ROLLING[code] then expire_entries(c, window) end
    if not c.exists then missing[#missing + 1] = i - 1
    elseif wanted > limit - c.settled - c.reserved then append_refusal(refusals, i, c, code, wanted, limit) end
  end
  if #missing > 1 then return missing end
  if #refusals > 1 then return refusals end
  local project, environment, key, end_user = unpack(subjects[subject])
  local record = { entry_time, tokens, nano_usd, arrived_at, 1, 0, project, environment, key, end_user, owner }
  local out = { 1 }
  for _, position in ipairs(positions) do
    local name, code, _, window = unpack(meters[position])
    local c, wanted, time = get_counter(name), reserved_amount(code, tokens, nano_usd), 0
    if IS_ROLLING[code] then time = add_entry(c, wanted, window) else add(c, nil, wanted, 0) end
    keep_alive(c, code, window)
    append_status(out, c, 0)
    local n = #record
    record[n + 1], record[n + 2], record[n + 3] = name, code, time
  end
  save(id, RUNNING, record, now + lease)
  return out
end

-- Reserves the amounts of an expired reservation again, whether they fit or not: its request is still running.
local function restore_expired(record)
  local tokens, nano_usd = record[2], record[3]
  for i = FIRST_SHARE, #record, 3 do
    local code = record[i + 1]
    local time = IS_ROLLING[code] and text(record[i + 2])
    local reserved = reserved_amount(code, tokens, nano_usd)
    add(get_counter(record[i], time), time, reserved, -expired_amount(code, reserved))
  end
end

-- Returns 2, then the indices of the meters that would grow and have no counter: it was deleted while the request reserved nothing of it.
local function list_missing_to_grow(positions, more_tokens, more_nano_usd)
  local missing = { 2 }
  for i, position in ipairs(positions) do
    local key, code = unpack(meters[position])
    local what = RESERVES[code]
    local is_growing = what == 'tokens' and more_tokens > 0 or what == 'nanoUsd' and more_nano_usd > 0
    if is_growing and not get_counter(key).exists then missing[#missing + 1] = i - 1 end
  end
  return missing
end

function OPERATIONS.extend(id, lease, tokens, nano_usd, positions)
  local state = state_of(id)
  if state ~= RUNNING and state ~= EXPIRED then return { 4 } end
  local record = record_of(id)
  local old_tokens, old_nano_usd = record[2], record[3]
  local missing = list_missing_to_grow(positions, tokens - old_tokens, nano_usd - old_nano_usd)
  if #missing > 1 then return missing end
  if state == EXPIRED then restore_expired(record) end
  local out, refusals = { 1 }, { 0 }
  for i, position in ipairs(positions) do
    local key, code, limit, window = unpack(meters[position])
    local c = get_counter(key)
    if IS_ROLLING[code] then expire_entries(c, window) end
    local growth = reserved_amount(code, tokens, nano_usd) - reserved_amount(code, old_tokens, old_nano_usd)
    if growth > 0 and growth > limit - c.settled - c.reserved then
      append_refusal(refusals, i, c, code, growth, limit)
    end
    append_status(out, c, growth)
  end
  if #refusals == 1 then
    for i = FIRST_SHARE, #record, 3 do
      local code = record[i + 1]
      local time = IS_ROLLING[code] and text(record[i + 2])
      local growth = reserved_amount(code, tokens, nano_usd) - reserved_amount(code, old_tokens, old_nano_usd)
      if growth ~= 0 then add(get_counter(record[i], time), time, growth, 0) end
    end
    record[2], record[3] = tokens, nano_usd
  end
  save(id, RUNNING, record, now + lease)
  return #refusals == 1 and out or refusals
end

function OPERATIONS.settle(id, requests, tokens, nano_usd, sandbox)
  local state = state_of(id)
  if state ~= RUNNING and state ~= EXPIRED then return {} end
  local r = record_of(id)
  local settled = finish(r, state == RUNNING, function(code)
    return settled_amount(code, requests, tokens, nano_usd, sandbox)
  end)
  local record = { r[1], tokens, nano_usd, r[4], requests, sandbox, r[7], r[8], r[9], r[10], r[11] }
  save(id, SETTLED, record, now + SETTLED_KEPT)
  return settled
end

-- Undoes a reservation. `mark`: the state of the id from now on.
local function undo(id, mark)
  local state = state_of(id)
  if state == SETTLED or state == RELEASED then return {} end
  if state == RUNNING or state == EXPIRED then
    finish(record_of(id), state == RUNNING, function() return 0 end)
  end
  forget(id, mark)
  return {}
end

function OPERATIONS.release(id) return undo(id, RELEASED) end
function OPERATIONS.withdraw(id) return undo(id, WITHDRAWN) end

local replies = { now }

local function append_reply(values)
  local n = #replies + 1
  replies[n] = #values
  for i, value in ipairs(values) do replies[n + i] = value end
end

local function pack_replies()
  local parts = {}
  for i = 1, #replies, 1000 do
    local last = math.min(i + 999, #replies)
    parts[#parts + 1] = struct.pack('<' .. string.rep('d', last - i + 1), unpack(replies, i, last))
  end
  return table.concat(parts)
end

for index, operations in ipairs(work) do
  enter_organization(KEYS[index])
  has_expired_leases = false
  local ids = {}
  for i, operation in ipairs(operations) do ids[i] = operation[2] end
  load_reservations(ids)
  for _, operation in ipairs(operations) do
    append_reply(OPERATIONS[operation[1]](unpack(operation, 2)))
  end
  leave_organization()
end
return pack_replies()
