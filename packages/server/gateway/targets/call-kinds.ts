import { findEmbeddingFormat } from '@rideau/llm/embeddings/find-embedding-format'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { Capability, CatalogModel } from '@rideau/llm/provider/catalog-model'
import { findRerankFormat } from '@rideau/llm/rerank/find-rerank-format'
import { checkEndpoint, type Need } from '../../core/access/authorize.ts'
import type { PlanPolicy } from '../../core/tenancy/policies.ts'
import type { Caller } from '../../core/tenancy/tenancy.ts'
import { allowsScope } from './assert-plan-scope.ts'
import type { ResolvedTarget } from './target-selection.ts'

/** A model at a provider: what decides which calls it can serve. */
export type ServingModel = Pick<ResolvedTarget, 'provider' | 'catalogModel'>

/** A kind of model call: what its routes require of a credential, and which models can serve it. */
export interface CallKind {
  readonly need: Need
  /** Returns false if every call of this kind to the model is refused. A model known by name only may have every capability. */
  canServe(model: ServingModel): boolean
}

export const CHAT: CallKind = {
  need: { endpoint: 'chat', scope: 'ai.chat' },
  canServe: ({ catalogModel }) => mayHave(catalogModel, 'chat'),
}

export const EMBEDDINGS: CallKind = {
  need: { endpoint: 'embeddings', scope: 'ai.embed' },
  canServe: ({ provider, catalogModel }) =>
    findEmbeddingFormat(provider) !== undefined && mayHave(catalogModel, 'embeddings'),
}

/** Requires the scope of embeddings, whose work it continues: it orders the results of a search. */
export const RERANK: CallKind = {
  need: EMBEDDINGS.need,
  canServe: ({ provider, catalogModel }) =>
    findRerankFormat(provider) !== undefined && mayHave(catalogModel, 'rerank'),
}

export const IMAGES: CallKind = {
  need: { endpoint: 'images', scope: 'ai.images' },
  canServe: ({ provider, catalogModel }) =>
    findImageFormat(provider) !== undefined && mayHave(catalogModel, 'images'),
}

/** The specification has no scope for audio, so client tokens do not reach it. */
const AUDIO_NEED: Need = { endpoint: 'audio', scope: 'ai.chat', isForKeys: true }

/** Transcriptions and translations. */
export const TRANSCRIPTION: CallKind = toAudioKind('transcription')
export const SPEECH: CallKind = toAudioKind('speech')

/** Every kind of call that a route serves. */
export const CALL_KINDS: readonly CallKind[] = [CHAT, EMBEDDINGS, RERANK, IMAGES, TRANSCRIPTION, SPEECH]

/** Returns the kinds of calls that a caller may make: its endpoints and scopes, and the scopes of its end user's plan, allow them. */
export function listCallKinds(caller: Caller, plan: PlanPolicy | undefined): readonly CallKind[] {
  return CALL_KINDS.filter(({ need }) => checkEndpoint(caller, need) === undefined && allowsScope(plan, need))
}

function toAudioKind(capability: 'transcription' | 'speech'): CallKind {
  return {
    need: AUDIO_NEED,
    canServe: ({ provider, catalogModel }) =>
      provider.audio !== undefined && mayHave(catalogModel, capability),
  }
}

function mayHave(model: CatalogModel | undefined, capability: Capability): boolean {
  return model === undefined || model.capabilities.includes(capability)
}
