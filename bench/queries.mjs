// The queries of the request log and of usage that people wait for, over the rows that seed.mjs makes.
import { DAYS } from './seed.mjs'

const TARGET_MS = 300
const ROUNDS = 7

function listQueries(environment, org) {
  const key = `key_id=00000000-0000-7000-8000-${'3'.padStart(12, '0')}`
  const from = `from=${new Date(Date.now() - DAYS * 86_400_000).toISOString()}`
  const ago = new Date(Date.now() - 90 * 86_400_000).toISOString()
  const logs = `/v1/environments/${environment}/logs?limit=20`
  return {
    'newest page': logs,
    'key, status, model, 30 days': `${logs}&${key}&status=200&model=openai/model-3&${from}`,
    'key, status, model, none fits': `${logs}&${key}&status=200&model=openai/model-4&${from}`,
    'key, failed, model': `${logs}&${key}&status=429&model=model-2&${from}`,
    'unknown model': `${logs}&model=nothing&${from}`,
    'a status without requests': `${logs}&status=503&${from}`,
    'end user': `${logs}&end_user_id=user-42&${from}`,
    'error code': `${logs}&error_code=rate_limit_exceeded&${from}`,
    'dear and slow': `${logs}&min_cost_usd=0.001&min_latency_ms=8990&${from}`,
    'an endpoint without requests': `${logs}&endpoint=audio&${from}`,
    'the sandbox, without requests': `${logs}&sandbox=true&${from}`,
    'streams of a key': `${logs}&stream=true&${key}&${from}`,
    'not its status, nor its model': `${logs}&not.status=200&not.model=model-2&${from}`,
    'the beginning of an id': `${logs}&request_id=12345678&${from}`,
    'several statuses': `${logs}&status=429&status=5xx&${from}`,
    'histogram of an endpoint': `/v1/environments/${environment}/logs/histogram?endpoint=audio&${from}`,
    metadata: `${logs}&metadata.trace=t5000&${from}`,
    'usage, 90 days by day': `/v1/orgs/${org}/usage?from=${ago}&limit=100`,
    'usage, 90 days by day and model': `/v1/orgs/${org}/usage?from=${ago}&group_by=model&limit=100`,
    'usage, 30 days by hour and key': `/v1/orgs/${org}/usage?granularity=hour&group_by=key&limit=100`,
    'usage, 30 days by end user': `/v1/orgs/${org}/usage?group_by=end_user&limit=100`,
  }
}

async function measure(call, route) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await call(route)
    times.push(performance.now() - start)
  }
  const [first, ...others] = times
  return { first, median: others.sort((a, b) => a - b)[Math.floor(others.length / 2)] }
}

/** Times each query several times and writes a line for it. `call` resolves with the answer of a path of the control plane. */
export async function timeQueries(environment, org, call) {
  for (const [name, route] of Object.entries(listQueries(environment, org))) {
    const { first, median } = await measure(call, route)
    const mark = median > TARGET_MS ? '  over the target' : ''
    console.log(
      `${name.padEnd(34)} first ${first.toFixed(0).padStart(5)} ms, then ${median.toFixed(1).padStart(7)} ms${mark}`,
    )
  }
}
