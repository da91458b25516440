import { describe, expect, test } from 'vitest'
import { type ModelDirectory, type Resolution, resolveName } from './resolve-model.ts'
import type { Credential, Environment, Key } from './tenancy.ts'

const MODELS: Record<string, readonly string[]> = {
  maker: ['large', 'small'],
  host: ['large', 'vendor/tiny'],
  other: ['large', 'alone'],
}

const directory: ModelDirectory = {
  hasProvider: provider => provider === 'any' || provider in MODELS,
  takesAnyName: provider => provider === 'any',
  hasModel: (provider, model) => MODELS[provider]?.includes(model) ?? false,
  providersOf: model => Object.keys(MODELS).filter(provider => MODELS[provider]?.includes(model)),
  isMaker: provider => provider === 'maker',
}

function credential(provider: string, createdAt = 0, discovered: readonly string[] = []): Credential {
  return {
    id: `${provider}-${createdAt}`,
    provider,
    apiKey: '',
    baseUrl: null,
    options: {},
    weight: 1,
    createdAt,
    discovered: new Set(discovered),
  }
}

interface Given {
  keyAllows?: string[] | null
  environmentAllows?: string[] | null
  credentials?: string[]
  /** What each provider's own list named. */
  discovered?: Record<string, string[]>
  customModels?: string[]
  /** Alias → names of its targets. */
  aliases?: Record<string, string[]>
}

/** `provider/model`, a code, or of an alias what came of each target. */
function resolve(asked: string, given: Given = {}): string | string[] {
  const { credentials = ['maker', 'host', 'other', 'any'], discovered = {}, aliases = {} } = given
  const key = { allowedModels: given.keyAllows ?? null } as unknown as Key
  const environment = {
    name: 'development',
    allowedModels: given.environmentAllows ?? null,
    credentials: credentials.map((provider, at) => credential(provider, at, discovered[provider])),
    customModels: new Map((given.customModels ?? []).map(id => [id, {}])),
    aliases: new Map(
      Object.entries(aliases).map(([name, models]) => [
        name,
        { name, strategy: 'priority', targets: models.map(model => ({ model })) },
      ]),
    ),
  } as unknown as Environment
  const resolution = resolveName(asked, key, environment, directory)
  return 'targets' in resolution
    ? resolution.targets.map(each => toText(each.resolution))
    : toText(resolution)
}

function toText(resolution: Resolution): string {
  return 'refusal' in resolution ? resolution.refusal.code : resolution.resolved.id
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

describe('a name that the catalogue lacks', () => {
  test("is known where the provider's own list names it, by its whole name and bare", () => {
    const discovered = { host: ['brand-new'] }
    expect(resolve('host/brand-new', { discovered })).toBe('host/brand-new')
    expect(resolve('brand-new', { discovered })).toBe('host/brand-new')
    expect(resolve('other/brand-new', { discovered })).toBe('model_not_found')
  })

  test('goes bare to its maker, also past an older credential that lists it', () => {
    const discovered = { host: ['brand-new'], maker: ['brand-new'] }
    expect(resolve('brand-new', { discovered, credentials: ['host', 'maker'] })).toBe('maker/brand-new')
  })

  test('goes bare to no provider that takes any name, whatever it lists', () => {
    expect(resolve('brand-new', { discovered: { any: ['brand-new'] } })).toBe('model_not_found')
  })

  test('is known where the environment has it as its own model', () => {
    const customModels = ['maker/tuned', 'other/lonely']
    expect(resolve('maker/tuned', { customModels })).toBe('maker/tuned')
    expect(resolve('tuned', { customModels })).toBe('maker/tuned')
    expect(resolve('other/lonely', { customModels, credentials: [] })).toBe('provider_credential_missing')
  })
})

describe('an alias', () => {
  const aliases = { fast: ['maker/small', 'other/large'], large: ['host/large'] }

  test('wins over a bare name, and stands for its targets in their order', () => {
    expect(resolve('fast', { aliases })).toEqual(['maker/small', 'other/large'])
    expect(resolve('large', { aliases })).toEqual(['host/large'])
    expect(resolve('maker/large', { aliases })).toBe('maker/large')
  })

  test('as a target is no alias: it would be a circle', () => {
    expect(resolve('a', { aliases: { a: ['b'], b: ['a'] } })).toEqual(['model_not_found'])
    expect(resolve('small', { aliases: { small: ['small'] } })).toEqual(['maker/small'])
  })

  test('opens its targets to a key that lists it, and by that name only', () => {
    const given = { aliases, keyAllows: ['fast', 'large'] }
    expect(resolve('fast', given)).toEqual(['maker/small', 'other/large'])
    for (const name of ['maker/small', 'small', 'other/large', 'maker/large', 'host/large']) {
      expect(resolve(name, given)).toBe('model_not_allowed')
    }
  })

  test('is closed to a key that lists its targets only', () => {
    expect(resolve('fast', { aliases, keyAllows: ['maker/*', 'other/large'] })).toBe('model_not_allowed')
  })

  test("loses the targets that the environment's list forbids, and is forbidden with the last", () => {
    expect(resolve('fast', { aliases, environmentAllows: ['other/*'] })).toEqual([
      'model_not_allowed',
      'other/large',
    ])
    expect(resolve('fast', { aliases, environmentAllows: ['fast'] })).toBe('model_not_allowed')
  })

  test('keeps a target without credential as one that cannot serve', () => {
    expect(resolve('fast', { aliases, credentials: ['other'] })).toEqual([
      'provider_credential_missing',
      'other/large',
    ])
  })
})
