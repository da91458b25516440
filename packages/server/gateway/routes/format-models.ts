import type { ModelRoute } from '@rideau/llm/formats/shared/format'
import { sendJson } from '../edge/send.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { getAllowed } from './models.ts'

/**
 * Serves one model that a key may call in a format's own shape, or what is the same for all. `name` is the model in the path,
 * or empty.
 */
export function serveFormatModel(
  ctx: IdentifiedContext,
  route: Exclude<ModelRoute, { readonly kind: 'list' }>,
  name: string,
  bodyTimeoutMs: number,
): void | Promise<void> {
  switch (route.kind) {
    case 'one':
      return sendJson(ctx, 200, route.encode(getAllowed(ctx, name)))
    case 'fixed':
      return sendJson(ctx, 200, route.body)
    case 'named in body':
      return serveNamed(ctx, route, bodyTimeoutMs)
  }
}

async function serveNamed(
  ctx: IdentifiedContext,
  { bodyLimitBytes, parse, encode }: Extract<ModelRoute, { kind: 'named in body' }>,
  bodyTimeoutMs: number,
): Promise<void> {
  const { value } = await readJson(ctx, bodyLimitBytes, bodyTimeoutMs)
  sendJson(ctx, 200, encode(getAllowed(ctx, parse(value))))
}
