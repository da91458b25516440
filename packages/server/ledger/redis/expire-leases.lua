-- Expires the reservations of one organization whose leases have run out, and keeps the organization's keys for a week.
--
-- Guarantee: an expired reservation counts as used what it reserved, except slots of concurrency, which become free.
--
-- KEYS[1]: the organization's reservations.
-- ARGV: now.
-- Returns how many reservations expired, at most 1000.

enter_organization(KEYS[1])
call('PEXPIRE', reservations, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
call('PEXPIRE', index, text(WEEK))
local expired = expire_leases(1000)
leave_organization()
return expired
