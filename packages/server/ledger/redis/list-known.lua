-- Returns the requests that a new counter takes from Redis, so that its seed must leave them out.
--
-- Guarantee: every returned request is still known to a create-counter.lua that runs within the next minute.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now; then for each meter six values: project, environment, key, end user ('': any), since, until (ms; 0: no end).
-- Returns the request ids, running, expired and recently settled ones.

enter_organization(KEYS[1])
local ids = {}
local all = call('HGETALL', reservations)
for i = 1, #all, 2 do
  local id, value = all[i], all[i + 1]
  local state = string.sub(value, 1, 1)
  if state ~= RELEASED and state ~= WITHDRAWN then
    local record = unpack_record(value)
    for a = 2, #ARGV, 6 do
      local since, until_ = tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
      if counts_request(record, ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], since, until_) then
        ids[#ids + 1] = id
        if state == SETTLED then call('ZADD', leases, text(now + 60000), id) end
        break
      end
    end
  end
end
return ids
