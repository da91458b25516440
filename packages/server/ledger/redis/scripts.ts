import base from './base.lua?raw'
import counters from './counters.lua?raw'
import createCounters from './create-counters.lua?raw'
import expireLeases from './expire-leases.lua?raw'
import listKnown from './list-known.lua?raw'
import { toLuaRules } from './lua-rules.ts'
import readMeters from './read-meters.lua?raw'
import reservations from './reservations.lua?raw'
import restoreReservation from './restore-reservation.lua?raw'
import runBatch from './run-batch.lua?raw'

/** The scripts as Redis gets them: each file states at its top what it guarantees, its KEYS and its ARGV. */
export const SCRIPTS = {
  runBatch: toScript(runBatch),
  readMeters: toScript(readMeters),
  expireLeases: toScript(expireLeases),
  listKnown: toScript(listKnown),
  createCounters: toScript(createCounters),
  restoreReservation: toScript(restoreReservation),
}

function toScript(text: string): string {
  return [toLuaRules(), base, counters, reservations, text].join('\n')
}
