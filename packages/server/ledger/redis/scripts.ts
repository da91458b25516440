import { COMMON_OF_ONE } from './script-base.ts'

// What is asked of one organization at a time. The keys and the state of a hold: see script-base.ts.

/** ARGV: now; then three a meter: key, code, window ms. Gives now, then 1 and settled, held, oldest of
 * each, or 2 and the indices of those that have no counter yet. */
export const READ = `${COMMON_OF_ONE}
sweep(1000)
local out, missing = { 1 }, { 2 }
for a = 2, #ARGV, 3 do
  local c, code = counter(base .. ARGV[a]), tonumber(ARGV[a + 1])
  if is_rolling(code) then advance(c, tonumber(ARGV[a + 2])) end
  if not c.is_there then missing[#missing + 1] = (a - 2) / 3 end
  out[#out + 1] = c.s
  out[#out + 1] = c.h
  out[#out + 1] = tonumber(c.oldest or -1)
end
leave_organization()
write_counters()
return { now, #missing > 1 and missing or out }
`

/** ARGV: now. Gives how many leases ran out. */
export const SWEEP = `${COMMON_OF_ONE}
call('PEXPIRE', holds, text(WEEK))
call('PEXPIRE', leases, text(WEEK))
local swept = sweep(1000)
leave_organization()
write_counters()
return swept
`
