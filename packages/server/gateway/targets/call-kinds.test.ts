import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { listModels } from '@rideau/llm/providers/catalog'
import { PROVIDERS } from '@rideau/llm/providers/index'
import { describe, expect, test } from 'vitest'
import type { PlanPolicy } from '../../core/tenancy/policies.ts'
import { type Caller, SCOPES } from '../../core/tenancy/tenancy.ts'
import { listRoutes } from '../routes.ts'
import { CALL_KINDS, CHAT, EMBEDDINGS, IMAGES, listCallKinds, RERANK } from './call-kinds.ts'

const caller = (rights: Partial<Caller> = {}): Caller => ({
  kind: 'secret',
  keyId: 'k',
  originalKeyId: 'k',
  endUser: null,
  scopes: SCOPES,
  allowedModels: null,
  allowedEndpoints: null,
  maxRequestCostNanoUsd: null,
  ...rights,
})
const plan = (scopes: readonly string[] | null): PlanPolicy => ({ scopes }) as PlanPolicy

test('every route that calls a model requires what one of the kinds requires', () => {
  const needs = CALL_KINDS.map(({ need }) => need)
  const metered = listRoutes(new FormatRegistry(FORMATS), {}).filter(({ isMetered }) => isMetered)
  expect(metered.filter(({ need }) => !needs.includes(need)).map(({ path }) => path)).toEqual([])
  expect(new Set(metered.map(({ need }) => need))).toEqual(new Set(needs))
})

test('a model of the catalogue serves a kind of call, unless it only makes images at a provider without image routes', () => {
  const unserved = PROVIDERS.flatMap(provider =>
    listModels(provider.id).filter(catalogModel =>
      CALL_KINDS.every(kind => !kind.canServe({ provider, catalogModel })),
    ),
  )
  expect(unserved.filter(({ capabilities }) => !capabilities.includes('images'))).toEqual([])
})

describe('a caller may make', () => {
  test.each<[string, Partial<Caller>, string[] | null, readonly unknown[]]>([
    ['every kind of call with a secret key without restrictions', {}, null, CALL_KINDS],
    ['no audio call with a client token', { kind: 'client_token' }, null, [CHAT, EMBEDDINGS, RERANK, IMAGES]],
    ['no call with a publishable key', { kind: 'publishable' }, null, []],
    ['the calls of its scopes', { scopes: ['ai.embed'] }, null, [EMBEDDINGS, RERANK]],
    ['the calls of its endpoints', { allowedEndpoints: ['images'] }, null, [IMAGES]],
    [
      'no call if no endpoint has a scope of it',
      { scopes: ['ai.embed'], allowedEndpoints: ['chat'] },
      null,
      [],
    ],
    ['the calls whose scope the plan has', { kind: 'client_token' }, ['ai.chat'], [CHAT]],
  ])('%s', (_, rights, scopes, kinds) => {
    expect(listCallKinds(caller(rights), plan(scopes))).toEqual(kinds)
  })
})
