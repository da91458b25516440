-- Returns the requests that a new counter takes from Redis, so that its seed must leave them out.
--
-- Guarantee: every returned request is still known to a create-counters.lua that runs within the next minute.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now; then for each meter six values: project, environment, key, end user ('': any), since, until (ms; 0: no end).
-- Returns what this took of the server (see each_with_prefix), and the request ids, running, expired and recently settled ones.

enter_organization(KEYS[1])
local meters, prefixes = {}, {}
for a = 2, #ARGV, 6 do
  local project, environment, key, end_user = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  meters[#meters + 1] = {
    project = project, environment = environment, key = key, end_user = end_user,
    since = tonumber(ARGV[a + 4]), until_ = tonumber(ARGV[a + 5]),
  }
  add_prefix(prefixes, tonumber(ARGV[a + 4]), project, environment, key, end_user)
end
local ids = { '' }
local effort = each_with_prefix(prefixes, function(id, value)
  local record = unpack_record(value)
  for _, m in ipairs(meters) do
    if counts_request(record, m.project, m.environment, m.key, m.end_user, m.since, m.until_) then
      ids[#ids + 1] = id
      if string.sub(value, 1, 1) == SETTLED then call('ZADD', leases, text(now + 60000), id) end
      return
    end
  end
end)
ids[1] = text(effort)
return ids
