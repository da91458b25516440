/** One attempt at one target. */
export interface AttemptRecord {
  provider: string
  model: string
  credential_id: string
  /** The provider's status; null: no response arrived. */
  status: number | null
  /** The classified cause (UpstreamErrorKind); null: success. */
  error: string | null
  /** Milliseconds after the arrival of the request. What lies between two attempts is the backoff. Absent in earlier records. */
  start_ms?: number
  ms: number
  /** Estimated cost of an abandoned attempt, which the provider may charge; null: the price is unknown. Absent: none. */
  cost_nano_usd?: number | null
}

/** A limit that a request was checked against. Whole tokens, requests or nano-dollars. */
export interface CheckedLimit {
  kind: 'limit' | 'quota' | 'budget' | 'plan'
  id: string
  scope: 'org' | 'project' | 'environment' | 'key' | 'end_user'
  metric: 'requests' | 'tokens' | 'nano_usd' | 'in_flight'
  /** The configured limit, without grace. */
  limit: number
  /** The amount that this request reserved. */
  reserved: number
  /** The amount that is left after this request's reservation. */
  remaining: number
  /** What the limit refused: the request, or more output while it ran. Absent: nothing. */
  refused?: number
}

/**
 * The durable record of a request: one line of the journal, one row of `request_logs` and of `usage_records`. Fields are
 * named like the columns, so that they need no mapping. Times in milliseconds, money in whole nano-dollars.
 */
export interface RequestRecord {
  id: string
  /** When the request arrived: ISO 8601, UTC, with milliseconds. */
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
  /** The body's `user`, or its counterpart in another format; never an identity. */
  user: string | null
  provider: string | null
  model: string | null
  stream: boolean
  status: number
  error_code: string | null
  /** The provider's own message of a request that it refused as invalid, without keys (core/attempts/provider-message.ts). */
  provider_message: string | null
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
  /** What the request reserved of limits on tokens and money; null: no such limit applied. */
  hold_tokens: number | null
  hold_nano_usd: number | null
  /**
   * The output tokens of one choice that the provider was asked for at most; null: the gateway asked for no fewer than
   * the caller and the model allow.
   */
  output_cap: number | null
  sandbox: boolean
  attempts: AttemptRecord[]
  metadata: Readonly<Record<string, string>> | null
  /**
   * Parameters that the attempted target could not honour and that were left out, as `X-Rideau-Dropped-Params` names them. null: none.
   * Absent in records of earlier versions, as is the next field.
   */
  dropped_params?: readonly string[] | null
  /** null: no limit applied, or the request was refused before limits were checked. */
  checked_limits?: readonly CheckedLimit[] | null
  /** Captured only if the environment's `log_capture` is `full`; cut with a marker (record-line.ts). */
  request_body: string | null
  response_body: string | null
}

/** A rating of an answer, stored with its record. */
export interface Feedback {
  /** The score from -1 to 1. */
  score: number
  comment: string | null
  tags: string[]
  /** ISO 8601. */
  created_at: string
}

/** A record as JSON text, which is made once for the journal and the database. See record-line.ts. */
export interface RecordLine {
  readonly id: string
  readonly at: string
  /** The whole record. */
  readonly json: string
}

/** A line with what it was made from, so that its rows can be encoded without parsing it again. */
export interface LineWithRecord extends RecordLine {
  /**
   * Undefined if the line is long. Of its attempts only those in the JSON count: a request that was stopped may add to
   * them later.
   */
  readonly record: RequestRecord | undefined
}

/** Records that wait in memory and are inserted together. */
export interface RecordBatch {
  readonly ids: readonly string[]
  /** The length of their JSON together, in characters. */
  readonly chars: number
  /** `keepsRows`: its rows may be encoded now, which takes more memory and saves work later. Never throws. */
  add(line: LineWithRecord, keepsRows: boolean): void
  /**
   * Idempotent. Rejects only if the database is unavailable. Until `isHurried`, which is asked again and again, it leaves the
   * database pauses, in which requests that share its core go on.
   */
  insert(isHurried: () => boolean): Promise<void>
  /** Gives its memory back. The batch is not used afterwards. */
  release(): void
}
