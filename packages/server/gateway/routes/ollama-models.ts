import { createHash } from 'node:crypto'
import { textAt } from '@rideau/llm/formats/shared/read-fields'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { sendJson } from '../edge/send.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { findAllowed, type Listed, listAllowed } from './models.ts'
import type { RouteDeps } from './route-deps.ts'

/** The version of the API that is served here: clients ask before they use what is newer. */
const API_VERSION = '0.12.0'
/** Of a body that names a model. */
const BODY_LIMIT = 1024 * 1024
/** The format demands when a model's files were changed; there are none here. */
const NEVER = '1970-01-01T00:00:00Z'

/** `GET {ollama prefix}/api/version`. */
export function serveOllamaVersion(ctx: IdentifiedContext): void {
  sendJson(ctx, 200, { version: API_VERSION })
}

/** `GET {ollama prefix}/api/tags`: Ollama's shape of the models that this key may call. */
export function serveOllamaTags(ctx: IdentifiedContext): void {
  sendJson(ctx, 200, { models: listAllowed(ctx).map(toModel) })
}

/** `GET {ollama prefix}/api/ps`: none waits in memory here. */
export function serveOllamaRunning(ctx: IdentifiedContext): void {
  sendJson(ctx, 200, { models: [] })
}

/** `POST {ollama prefix}/api/show`: what a model can do. */
export async function serveOllamaModel(ctx: IdentifiedContext, deps: RouteDeps): Promise<void> {
  const { value } = await readJson(ctx, 'ollama-chat', BODY_LIMIT, deps.bodyTimeoutMs)
  const listed = findAllowed(ctx, textAt(value.model ?? value.name, 'model'))
  const context = 'targets' in listed ? null : listed.model.context_window
  sendJson(ctx, 200, {
    modelfile: '',
    parameters: '',
    template: '',
    details: toDetails(listed),
    model_info: {
      'general.architecture': 'rideau',
      ...(context === null ? {} : { 'rideau.context_length': context }),
    },
    capabilities: listCapabilities(listed),
    modified_at: NEVER,
  })
}

function toModel(listed: Listed): JsonObject {
  const { id } = listed
  return {
    name: id,
    model: id,
    modified_at: NEVER,
    size: 0,
    // Of the name: there are no files that it could be of.
    digest: createHash('sha256').update(id).digest('hex'),
    details: toDetails(listed),
  }
}

function toDetails(listed: Listed): JsonObject {
  const family = 'targets' in listed ? 'alias' : listed.provider
  return {
    parent_model: '',
    format: '',
    family,
    families: [family],
    parameter_size: '',
    quantization_level: '',
  }
}

/** Ours in the format's words. */
const WORDS: Readonly<Record<string, string>> = {
  chat: 'completion',
  tools: 'tools',
  vision: 'vision',
  reasoning: 'thinking',
  embeddings: 'embedding',
}

function listCapabilities(listed: Listed): string[] {
  const models = 'targets' in listed ? listed.targets : [listed]
  const all = new Set(models.flatMap(({ model }) => model.capabilities))
  return [...all].map(name => WORDS[name]).filter(word => word !== undefined)
}
