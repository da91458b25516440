import { toFault } from '../../core/fault.ts'
import { writeHead } from '../../http/answer/write-head.ts'
import { assertKnownQuery } from '../../http/head/assert-known-query.ts'
import { endWithFault } from '../pipeline/end-request.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

export const JWKS_PATH = '/.well-known/jwks.json'

/**
 * `GET /.well-known/jwks.json`: the public keys that verify client tokens. Public and the same for all callers. Never
 * rejects.
 */
export async function serveKeySet(ctx: RequestContext, deps: RouteDeps): Promise<void> {
  try {
    assertKnownQuery(ctx.req.url ?? '', [])
    const bytes = Buffer.from(JSON.stringify({ keys: await deps.signingKeys.listPublic() }))
    writeHead(ctx.res, 200, [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(bytes.length),
      'Cache-Control',
      'public, max-age=300',
      'Access-Control-Allow-Origin',
      '*',
      'X-Request-Id',
      ctx.requestId,
    ])
    ctx.res.end(bytes)
  } catch (thrown) {
    await endWithFault(ctx, toFault(thrown), deps)
  }
}
