/** One try at one target. */
export interface AttemptRecord {
  provider: string
  model: string
  credential_id: string
  /** The provider's status; null where none came. */
  status: number | null
  /** Cause by our classification; null for success. */
  error: string | null
  ms: number
  /** What was billed for it though nobody got an answer of it, as an estimate; null: its price is unknown. Absent: nothing. */
  cost_nano_usd?: number | null
}

/**
 * What remains of a request: one line of the journal, one row of `request_logs` and of `usage_records` (0002-usage.ts).
 * Named as stored, so that the journal's writer maps nothing. Times in milliseconds, money in whole nano-dollars.
 */
export interface RequestRecord {
  id: string
  /** ISO 8601, UTC, milliseconds: when the request arrived. */
  at: string
  request_id: string
  org_id: string
  project_id: string
  environment_id: string
  key_id: string | null
  end_user_id: string | null
  endpoint: string
  surface: string
  model_requested: string | null
  provider: string | null
  model: string | null
  stream: boolean
  status: number
  error_code: string | null
  finish_reason: string | null
  queue_ms: number
  first_byte_ms: number | null
  total_ms: number
  uncached_input_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_tokens: number
  reasoning_tokens: number
  usage_estimated: boolean
  cost_nano_usd: number | null
  /** What was held of limits of tokens and money; null: none concerned the request. */
  hold_tokens: number | null
  hold_nano_usd: number | null
  sandbox: boolean
  attempts: AttemptRecord[]
  metadata: Readonly<Record<string, string>> | null
  /** Only where the environment captures in full; cut with a marker (record-line.ts). */
  request_body: string | null
  response_body: string | null
}

/** What somebody thought of an answer; kept with its record. */
export interface Feedback {
  /** From -1 to 1. */
  score: number
  comment: string | null
  tags: string[]
  /** ISO 8601. */
  created_at: string
}

/** A record as the journal keeps it: its text is made once, and goes to the database as it is. See record-line.ts. */
export interface RecordLine {
  readonly id: string
  readonly at: string
  /** The whole record. */
  readonly json: string
}
