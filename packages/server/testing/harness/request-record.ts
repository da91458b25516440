import type { RequestRecord } from '../../core/request-record.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'

/** Returns the record of a plain chat request. `at` in Unix milliseconds. */
export function requestRecord(
  environment: EnvironmentRow,
  id: string,
  at: number,
  change: Partial<RequestRecord> = {},
): RequestRecord {
  return {
    id,
    at: new Date(at).toISOString(),
    request_id: id,
    org_id: environment.org_id,
    project_id: environment.project_id,
    environment_id: environment.id,
    key_id: null,
    end_user_id: null,
    endpoint: 'chat',
    surface: 'native',
    model_requested: 'sandbox/echo',
    provider: 'sandbox',
    model: 'echo',
    stream: false,
    status: 200,
    error_code: null,
    finish_reason: 'stop',
    queue_ms: 1,
    first_byte_ms: 2,
    total_ms: 3,
    uncached_input_tokens: 10,
    cache_read_tokens: 4,
    cache_write_tokens: 2,
    output_tokens: 7,
    reasoning_tokens: 3,
    usage_estimated: false,
    cost_nano_usd: 1_234_567,
    hold_tokens: null,
    hold_nano_usd: null,
    output_cap: null,
    sandbox: true,
    attempts: [{ provider: 'sandbox', model: 'echo', credential_id: id, status: 200, error: null, ms: 2 }],
    metadata: null,
    request_body: '{"secret":"prompt"}',
    response_body: '{"secret":"answer"}',
    ...change,
  }
}
