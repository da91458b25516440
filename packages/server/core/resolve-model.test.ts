import { describe, expect, test } from 'vitest'
import { type ModelDirectory, resolveModel } from './resolve-model.ts'
import type { Credential, Environment, Key } from './tenancy.ts'

const MODELS: Record<string, readonly string[]> = {
  maker: ['large', 'small'],
  host: ['large', 'vendor/tiny'],
  other: ['large', 'alone'],
}

const directory: ModelDirectory = {
  hasProvider: provider => provider === 'any' || provider in MODELS,
  hasModel: (provider, model) => provider === 'any' || (MODELS[provider]?.includes(model) ?? false),
  providersOf: model => Object.keys(MODELS).filter(provider => MODELS[provider]?.includes(model)),
  isMaker: provider => provider === 'maker',
}

function credential(provider: string, createdAt = 0): Credential {
  return {
    id: `${provider}-${createdAt}`,
    provider,
    apiKey: '',
    baseUrl: null,
    options: {},
    weight: 1,
    createdAt,
  }
}

function resolve(
  asked: string,
  {
    keyAllows = null,
    environmentAllows = null,
    credentials = ['maker', 'host', 'other', 'any'],
  }: {
    keyAllows?: string[] | null
    environmentAllows?: string[] | null
    credentials?: string[]
  } = {},
) {
  const key = { allowedModels: keyAllows } as unknown as Key
  const environment = {
    name: 'development',
    allowedModels: environmentAllows,
    credentials: credentials.map((provider, at) => credential(provider, at)),
  } as unknown as Environment
  const resolution = resolveModel(asked, key, environment, directory)
  return 'refusal' in resolution
    ? resolution.refusal.code
    : `${resolution.resolved.provider}/${resolution.resolved.model}`
}

describe('a name', () => {
  test('provider/model is taken as it is', () => {
    expect(resolve('host/large')).toBe('host/large')
    expect(resolve('host/vendor/tiny')).toBe('host/vendor/tiny')
  })

  test('a bare one goes to its maker where that has a credential', () => {
    expect(resolve('large', { credentials: ['other', 'host', 'maker'] })).toBe('maker/large')
  })

  test('a bare one goes to the oldest credential that lists it where its maker has none', () => {
    expect(resolve('large', { credentials: ['other', 'host'] })).toBe('other/large')
  })

  test('a bare one never goes to a provider that takes any name', () => {
    expect(resolve('unheard-of', { credentials: ['any'] })).toBe('model_not_found')
    expect(resolve('large', { credentials: ['any'] })).toBe('provider_credential_missing')
  })

  test('of a provider that takes any name is known', () => {
    expect(resolve('any/my-own:latest')).toBe('any/my-own:latest')
  })

  test('that nothing knows is model_not_found', () => {
    for (const name of ['unheard-of', 'maker/unheard-of', 'nobody/large', 'maker/', '/', 'large/']) {
      expect(resolve(name)).toBe('model_not_found')
    }
  })

  test('that is known, but whose provider has no credential, is provider_credential_missing', () => {
    expect(resolve('maker/large', { credentials: ['host'] })).toBe('provider_credential_missing')
  })
})

describe('an allow-list', () => {
  test.each([[['maker/large']], [['maker/*']], [['large']]])(
    '%j lets maker/large through by either name',
    keyAllows => {
      expect(resolve('maker/large', { keyAllows })).toBe('maker/large')
      expect(resolve('large', { keyAllows })).toBe('maker/large')
    },
  )

  test.each([[['maker/small']], [['host/*']], [[]], [['maker/larg']], [['*']]])('%j does not', keyAllows => {
    expect(resolve('maker/large', { keyAllows })).toBe('model_not_allowed')
  })

  test('of the key refuses before it is told whether the model exists', () => {
    expect(resolve('unheard-of', { keyAllows: ['maker/large'] })).toBe('model_not_allowed')
    expect(resolve('maker/large', { keyAllows: ['host/*'], credentials: [] })).toBe('model_not_allowed')
  })

  test('of the environment refuses too', () => {
    expect(resolve('maker/large', { environmentAllows: ['host/*'] })).toBe('model_not_allowed')
    expect(resolve('host/large', { environmentAllows: ['host/*'] })).toBe('host/large')
  })
})
