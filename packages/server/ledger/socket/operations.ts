// What a worker asks of the ledger in its supervisor, and what that answers. A message is a frame with many operations. All
// operations but the definitions begin with their code and the number of the call; so do all results but ACKNOWLEDGED and
// HEALTH. Settlements and releases have no result: they are carried out before their message is acknowledged.

/** Gives the next number to a list of meters or to a subject, which later operations of the connection refer to. */
export const DEFINE_METERS = 1
export const DEFINE_SUBJECT = 2
/** Forgets all definitions. */
export const FORGET_DEFINITIONS = 3
export const RESERVE = 4
export const EXTEND = 5
export const SETTLE = 6
export const RELEASE = 7
export const READ = 8

/** A message was read to its end. Calls that wait for the database are answered later. */
export const ACKNOWLEDGED = 1
export const ADMITTED = 2
export const REFUSED = 3
export const UNAVAILABLE = 4
/** The ledger threw: the operation was a programming error. */
export const THREW = 5
/** The statuses of a read; NO_STATUSES where the counters could not be read. */
export const STATUSES = 6
export const NO_STATUSES = 7
/** Whether the supervisor counts as configured, and why not. */
export const HEALTH = 8

/** The definitions that a connection keeps at most, of meters and of subjects. They are forgotten together. */
export const MAX_DEFINITIONS = 10_000
/** The meters in these lists at most, and one list more: a caller may have thousands, each some 300 bytes. */
export const MAX_DEFINED_METERS = 100_000
