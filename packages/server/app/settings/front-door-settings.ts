import { getHeapStatistics } from 'node:v8'
import { z } from 'zod'
import { type BucketRate, toBucketRate } from '../../core/admission/token-bucket.ts'
import { readFileLimit } from './file-limit.ts'
import { positiveNumber, wholeNumber } from './setting-types.ts'

/** What bounds the requests, bodies and connections of a process, or of all gateway workers of a machine together. */
export interface FrontDoorConfig {
  readonly keyRate: BucketRate
  readonly endUserRate: BucketRate
  readonly addressRate: BucketRate
  readonly openRequests: number
  readonly bodyBytes: number
  readonly answerBytes: number
  readonly connections: number
  /** undefined: its fair share of all connections. */
  readonly connectionsPerAddress: number | undefined
}

const rate = positiveNumber(1_000_000, 'must be a number above 0, at most 1000000')
const count = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a whole number, at least 1')
const bytes = wholeNumber(
  toBytes(32),
  Number.MAX_SAFE_INTEGER,
  `must be a whole number of bytes, at least ${toBytes(32)}`,
)
/** A whole answer of a provider has at most this size. */
const answers = wholeNumber(
  toBytes(64),
  Number.MAX_SAFE_INTEGER,
  `must be a whole number of bytes, at least ${toBytes(64)}`,
)

/** The settings of the front door; part of those in settings.ts. */
export const FRONT_DOOR_SETTINGS = {
  RIDEAU_KEY_REQUESTS_PER_SECOND: rate.default(20_000),
  RIDEAU_END_USER_REQUESTS_PER_SECOND: rate.default(50),
  RIDEAU_ADDRESS_REQUESTS_PER_SECOND: rate.default(100),
  RIDEAU_OPEN_REQUESTS: count.default(10_000),
  RIDEAU_BODY_BYTES: bytes.optional(),
  RIDEAU_ANSWER_BYTES: answers.optional(),
  RIDEAU_CONNECTIONS: count.optional(),
  RIDEAU_CONNECTIONS_PER_ADDRESS: count.optional(),
}

const FrontDoorSettings = z.object(FRONT_DOOR_SETTINGS)

/** A bucket holds what its rate adds in this time. */
const BURST_SECONDS = 5
/** An app starts with many requests at once and then makes few. */
const END_USER_BURST_SECONDS = 10
/** The part of the heap that bodies may take. What is made of a body takes several times its size. */
const HEAP_PART = 1 / 8
const MIN_BODY_BYTES = toBytes(256)
/** What answers may take while they arrive or wait to be read, as a part of the heap's size. Most of it lies outside the heap. */
const ANSWER_PART = 1 / 4
const MIN_ANSWER_BYTES = toBytes(512)
/** File descriptors for everything but callers and providers. */
const OWN_FILES = 256
/** An idle connection takes some 10 KB. */
const MAX_CONNECTIONS = 20_000

export function toFrontDoorConfig(settings: z.output<typeof FrontDoorSettings>): FrontDoorConfig {
  const heapBytes = getHeapStatistics().heap_size_limit
  return {
    keyRate: toBucketRate(settings.RIDEAU_KEY_REQUESTS_PER_SECOND, BURST_SECONDS),
    endUserRate: toBucketRate(settings.RIDEAU_END_USER_REQUESTS_PER_SECOND, END_USER_BURST_SECONDS),
    addressRate: toBucketRate(settings.RIDEAU_ADDRESS_REQUESTS_PER_SECOND, BURST_SECONDS),
    openRequests: settings.RIDEAU_OPEN_REQUESTS,
    bodyBytes: settings.RIDEAU_BODY_BYTES ?? Math.max(MIN_BODY_BYTES, Math.floor(heapBytes * HEAP_PART)),
    answerBytes:
      settings.RIDEAU_ANSWER_BYTES ?? Math.max(MIN_ANSWER_BYTES, Math.floor(heapBytes * ANSWER_PART)),
    connections: settings.RIDEAU_CONNECTIONS ?? Math.min(MAX_CONNECTIONS, toConnections(readFileLimit())),
    connectionsPerAddress: settings.RIDEAU_CONNECTIONS_PER_ADDRESS,
  }
}

/** Leaves as many file descriptors for connections to providers as for those of callers. */
function toConnections(files: number): number {
  return Math.max(64, Math.floor((files - OWN_FILES) / 2))
}

function toBytes(mib: number): number {
  return mib * 1024 * 1024
}
