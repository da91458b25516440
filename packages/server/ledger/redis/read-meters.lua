-- Returns the status of meters of one organization.
--
-- Guarantee: all statuses are of one instant, with leases that have run out expired first.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now; then for each meter: key, code, window (ms, see keep_alive).
-- Returns now and a list: 1, then settled, reserved, oldest of each meter, where -1 is no oldest entry; or 2, then the
-- indices, from 0 on, of the meters that have no counter yet.

enter_organization(KEYS[1])
expire_leases(1000)
local out, missing = { 1 }, { 2 }
for a = 2, #ARGV, 3 do
  local c, code = get_counter(ARGV[a]), tonumber(ARGV[a + 1])
  if IS_ROLLING[code] then expire_entries(c, tonumber(ARGV[a + 2])) end
  if not c.exists then missing[#missing + 1] = (a - 2) / 3 end
  out[#out + 1] = c.settled
  out[#out + 1] = c.reserved
  out[#out + 1] = tonumber(c.oldest or -1)
end
leave_organization()
return { now, #missing > 1 and missing or out }
