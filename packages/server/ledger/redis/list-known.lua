-- Returns the requests that a new counter takes from Redis, so that its seed must leave them out.
--
-- Guarantee: every returned request is still known to a create-counters.lua that runs within the next minute.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now; then for each meter six values: project, environment, key, end user ('': any), since, until (ms; 0: no end).
-- Returns the request ids, running, expired and recently settled ones.

enter_organization(KEYS[1])
local meters = {}
for a = 2, #ARGV, 6 do
  local project, environment, key, end_user = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  meters[#meters + 1] = {
    project = project, environment = environment, key = key, end_user = end_user,
    since = tonumber(ARGV[a + 4]), until_ = tonumber(ARGV[a + 5]),
    needle = needle_of(project, environment, key, end_user),
  }
end
local ids = {}
local all = call('HGETALL', reservations)
for i = 1, #all, 2 do
  local id, value = all[i], all[i + 1]
  local record
  for _, m in ipairs(meters) do
    if string.find(value, m.needle, 1, true) then
      record = record or unpack_record(value)
      if counts_request(record, m.project, m.environment, m.key, m.end_user, m.since, m.until_) then
        ids[#ids + 1] = id
        if string.sub(value, 1, 1) == SETTLED then call('ZADD', leases, text(now + 60000), id) end
        break
      end
    end
  end
end
return ids
