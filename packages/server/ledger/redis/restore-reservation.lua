-- Makes a running reservation known to a server that has lost it, or that was unreachable when it was admitted.
--
-- Guarantee: the reservation counts whatever the limits say, since its request is running. Does nothing where the id is known,
-- unless it was withdrawn: that undid another admission of the same request, whose reply did not arrive.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now, id, lease (ms), tokens, nano-dollars, time of arrival by the gateway's clock, project, environment, key, end
-- user, owner, time of admission by the server's clock; then for each meter: key, code, window (ms, see keep_alive).
-- Returns 1; 0: the id was known.

enter_organization(KEYS[1])
local id, lease = ARGV[2], tonumber(ARGV[3])
local state = state_of(id)
if state == WITHDRAWN then call('DEL', mark_prefix .. id)
elseif state then return 0 end
local tokens, nano_usd = tonumber(ARGV[4]), tonumber(ARGV[5])
local record = {
  tonumber(ARGV[12]), tokens, nano_usd, tonumber(ARGV[6]), 1, 0, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11],
}
for a = 13, #ARGV, 3 do
  local c, code, time = get_counter(ARGV[a]), tonumber(ARGV[a + 1]), 0
  -- A counter that is created later finds this reservation then.
  if c.exists then
    local reserved = reserved_amount(code, tokens, nano_usd)
    if IS_ROLLING[code] then time = add_entry(c, reserved, tonumber(ARGV[a + 2])) else add(c, nil, reserved, 0) end
  end
  local n = #record
  record[n + 1], record[n + 2], record[n + 3] = ARGV[a], code, time
end
save(id, RUNNING, record, now + lease)
leave_organization()
return 1
