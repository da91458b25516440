-- Expires the reservations of one organization whose leases have run out, forgets the names of counters that have expired, and keeps the
-- organization's keys for a week.
--
-- Guarantee: an expired reservation counts as used what it reserved, except slots of concurrency, which become free.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now.
-- Returns how many reservations expired, at most 1000.

-- Looks at NAMES of the names at random, and again while more than a quarter of them are those of expired counters.
local NAMES, ROUNDS = 20, 10

local function forget_expired_names()
  for _ = 1, ROUNDS do
    local expired = {}
    for _, name in ipairs(call('ZRANDMEMBER', names, NAMES)) do
      if call('EXISTS', counter_prefix .. name) == 0 then
        expired[#expired + 1] = name
        call('UNLINK', list_prefix .. name)
      end
    end
    if #expired > 0 then call('ZREM', names, unpack(expired)) end
    if #expired <= NAMES / 4 then return end
  end
end

enter_organization(KEYS[1])
forget_expired_names()
call('PEXPIRE', reservations, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
call('PEXPIRE', index, text(WEEK))
local expired = expire_leases(1000)
leave_organization()
return expired
