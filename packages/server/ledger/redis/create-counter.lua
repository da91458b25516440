-- Creates a counter from a seed and from the requests that Redis knows, unless another process has created it.
--
-- Guarantee: each request that the meter counts is contained once, either in the seed or from its reservation. Running and
-- expired reservations get a share of the counter, so that they are settled in it too.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now, key, code, window (ms, see keep_alive), life (ms), project, environment, key, end user ('': any), since, until
-- (ms; 0: no end), used; then for each entry of a rolling counter's seed: at (ms), amount.
-- Returns the settled amount; -1: the counter existed.

enter_organization(KEYS[1])
local name, code, window, life = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local project, environment, key_id, end_user = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local since, until_ = tonumber(ARGV[10]), tonumber(ARGV[11])
local key, list = counter_prefix .. name, list_prefix .. name
if call('HEXISTS', key, 's') == 1 then return -1 end
call('DEL', key, list)

local is_rolling = IS_ROLLING[code]
local settled_sum, reserved_sum = 0, 0
local times, entries = {}, {}

local function count(time, reserved, settled)
  if is_rolling then
    if time <= now - window then return end
    if not entries[time] then
      entries[time] = { 0, 0 }
      times[#times + 1] = time
    end
    entries[time][1] = entries[time][1] + reserved
    entries[time][2] = entries[time][2] + settled
  end
  reserved_sum = reserved_sum + reserved
  settled_sum = settled_sum + settled
end

if is_rolling then
  for a = 13, #ARGV, 2 do count(math.min(tonumber(ARGV[a]), entry_time), 0, tonumber(ARGV[a + 1])) end
else
  count(0, 0, tonumber(ARGV[12]))
end

-- Gives a reservation a share of the counter, or replaces the one that it has of an earlier counter of this key.
local function save_share(id, state, record)
  local at = #record + 1
  for i = FIRST_SHARE, #record, 3 do
    if record[i] == name then at = i end
  end
  record[at], record[at + 1], record[at + 2] = name, code, is_rolling and record[1] or 0
  call('HSET', reservations, id, state .. cmsgpack.pack(record))
end

local all = call('HGETALL', reservations)
for i = 1, #all, 2 do
  local id, value = all[i], all[i + 1]
  local state = string.sub(value, 1, 1)
  local r = state ~= RELEASED and state ~= WITHDRAWN and unpack_record(value)
  if r and counts_request(r, project, environment, key_id, end_user, since, until_) then
    local at, tokens, nano_usd, requests, sandbox = r[1], r[2], r[3], r[5], r[6]
    local reserved = reserved_amount(code, tokens, nano_usd)
    if state == RUNNING then count(at, reserved, 0)
    elseif state == EXPIRED then count(at, 0, expired_amount(code, reserved))
    else count(at, 0, settled_amount(code, requests, tokens, nano_usd, sandbox)) end
    if state ~= SETTLED then save_share(id, state, r) end
  end
end

call('HSET', key, 's', text(settled_sum), 'r', text(reserved_sum))
table.sort(times)
for _, time in ipairs(times) do
  local t = text(time)
  call('RPUSH', list, t)
  call('HSET', key, t .. 'r', text(entries[time][1]), t .. 's', text(entries[time][2]))
end
call('PEXPIRE', key, life)
if is_rolling then call('PEXPIRE', list, life) end
call('PEXPIRE', reservations, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
return settled_sum
