import { describe, expect, test } from 'vitest'
import type { Credential, Environment } from '../tenancy/tenancy.ts'
import { type ModelDirectory, type Resolution, resolveName } from './resolve-model.ts'

const MODELS: Record<string, readonly string[]> = {
  maker: ['large', 'small'],
  exact: ['only'],
  host: ['large', 'vendor/tiny'],
  other: ['large', 'alone'],
  hub: ['hub-1'],
}

const directory: ModelDirectory = {
  hasProvider: provider => provider === 'any' || provider in MODELS,
  takesAnyName: provider => provider === 'any',
  takesUnknownName: (provider, model) => provider !== 'exact' && !model.includes('..'),
  hasModel: (provider, model) => MODELS[provider]?.includes(model) ?? false,
  providersOf: model => Object.keys(MODELS).filter(provider => MODELS[provider]?.includes(model)),
  isMaker: provider => provider === 'maker' || provider === 'hub',
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
    updatedAt: createdAt,
    discovered: new Set(discovered),
  }
}

interface ResolveInput {
  keyAllows?: string[] | null
  environmentAllows?: string[] | null
  planAllows?: string[]
  credentials?: string[]
  /** The models that each provider lists. */
  discovered?: Record<string, string[]>
  customModels?: string[]
  /** Targets by alias. */
  aliases?: Record<string, string[]>
  /** The providers whose own format the caller uses. */
  own?: string[]
}

/** Returns `provider/model`, an error code, or for an alias the result of each target. */
function resolve(asked: string, given: ResolveInput = {}): string | string[] {
  const { credentials = ['maker', 'host', 'other', 'any'], discovered = {}, aliases = {} } = given
  const lists = { key: given.keyAllows ?? null, plan: given.planAllows ?? null }
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
  const resolution = resolveName(asked, lists, environment, directory, given.own)
  return 'targets' in resolution
    ? resolution.targets.map(each => toText(each.resolution))
    : toText(resolution)
}

function toText(resolution: Resolution): string {
  return 'refusal' in resolution ? resolution.refusal.code : resolution.resolved.id
}

describe('a name', () => {
  test('provider/model resolves to itself', () => {
    expect(resolve('host/large')).toBe('host/large')
    expect(resolve('host/vendor/tiny')).toBe('host/vendor/tiny')
  })

  test('a bare name goes to the maker if it has a credential', () => {
    expect(resolve('large', { credentials: ['other', 'host', 'maker'] })).toBe('maker/large')
  })

  test('a bare name goes to the oldest credential that lists it if the maker has none', () => {
    expect(resolve('large', { credentials: ['other', 'host'] })).toBe('other/large')
  })

  test('a bare name goes to its own maker, also if an older credential of another maker lists it', () => {
    const discovered = { hub: ['large'] }
    expect(resolve('large', { credentials: ['hub', 'maker'], discovered })).toBe('maker/large')
    const customModels = ['hub/large']
    expect(resolve('large', { credentials: ['hub', 'maker'], customModels })).toBe('maker/large')
  })

  test("a bare name whose maker has no credential goes to the oldest credential, another maker's or not", () => {
    const discovered = { hub: ['large'] }
    expect(resolve('large', { credentials: ['other', 'hub'], discovered })).toBe('other/large')
    expect(resolve('large', { credentials: ['hub', 'other'], discovered })).toBe('hub/large')
    expect(resolve('alone', { credentials: ['other', 'hub'], discovered: { hub: ['alone'] } })).toBe(
      'other/alone',
    )
  })

  test('a bare name that no catalogue has goes to the oldest maker that lists it', () => {
    const discovered = { host: ['fresh'], maker: ['fresh'], hub: ['fresh'] }
    expect(resolve('fresh', { credentials: ['host', 'maker', 'hub'], discovered })).toBe('maker/fresh')
    expect(resolve('fresh', { credentials: ['host', 'other'], discovered })).toBe('host/fresh')
  })

  test('a bare name never goes to a provider that accepts any name', () => {
    expect(resolve('unheard-of', { credentials: ['any'] })).toBe('model_not_found')
    expect(resolve('large', { credentials: ['any'] })).toBe('provider_credential_missing')
  })

  test('any name of a provider that accepts any name is known', () => {
    expect(resolve('any/my-own:latest')).toBe('any/my-own:latest')
  })

  test('an unknown name is model_not_found', () => {
    for (const name of ['unheard-of', 'nobody/large', 'maker/', '/', 'large/', '']) {
      expect(resolve(name)).toBe('model_not_found')
    }
  })

  test('an unknown provider/model goes to that provider if it has a credential', () => {
    expect(resolve('maker/unheard-of')).toBe('maker/unheard-of')
    expect(resolve('maker/unheard-of', { credentials: ['host'] })).toBe('provider_credential_missing')
  })

  test('an unknown name that its provider must not get is model_not_found', () => {
    expect(resolve('exact/unheard-of', { credentials: ['exact'] })).toBe('model_not_found')
    expect(resolve('exact/only', { credentials: ['exact'] })).toBe('exact/only')
    expect(resolve('maker/../files')).toBe('model_not_found')
    expect(resolve('..', { own: ['maker'] })).toBe('model_not_found')
  })

  test("an unknown bare name goes to the provider of the caller's format if it has a credential", () => {
    const own = ['host', 'maker']
    expect(resolve('unheard-of', { own })).toBe('host/unheard-of')
    expect(resolve('unheard-of', { own, credentials: ['other', 'maker'] })).toBe('maker/unheard-of')
    expect(resolve('unheard-of', { own, credentials: ['other'] })).toBe('model_not_found')
    expect(resolve('unheard-of', { own: ['any'] })).toBe('any/unheard-of')
  })

  test("a bare name that something knows goes there, whatever the caller's format is", () => {
    expect(resolve('alone', { own: ['maker'] })).toBe('other/alone')
    expect(resolve('alone', { own: ['maker'], credentials: ['maker'] })).toBe('provider_credential_missing')
    expect(resolve('nobody/large', { own: ['maker'] })).toBe('model_not_found')
    expect(resolve('fast', { own: ['maker'], aliases: { fast: ['host/large'] } })).toEqual(['host/large'])
  })

  test('a known name without a credential for its provider is provider_credential_missing', () => {
    expect(resolve('maker/large', { credentials: ['host'] })).toBe('provider_credential_missing')
  })
})

describe('an allow-list', () => {
  test.each([[['maker/large']], [['maker/*']], [['large']]])(
    '%j allows maker/large by either name',
    keyAllows => {
      expect(resolve('maker/large', { keyAllows })).toBe('maker/large')
      expect(resolve('large', { keyAllows })).toBe('maker/large')
    },
  )

  test.each([[['maker/small']], [['host/*']], [[]], [['maker/larg']], [['*']]])('%j does not', keyAllows => {
    expect(resolve('maker/large', { keyAllows })).toBe('model_not_allowed')
  })

  test("refuses other models with 403 if it is the key's, whether or not they exist", () => {
    expect(resolve('unheard-of', { keyAllows: ['maker/large'] })).toBe('model_not_allowed')
    expect(resolve('maker/large', { keyAllows: ['host/*'], credentials: [] })).toBe('model_not_allowed')
  })

  test("allows an unknown bare name by what the caller's format makes of it", () => {
    const own = ['maker']
    expect(resolve('unheard-of', { own, keyAllows: ['maker/*'] })).toBe('maker/unheard-of')
    expect(resolve('unheard-of', { own, keyAllows: ['maker/unheard-of'] })).toBe('maker/unheard-of')
    expect(resolve('unheard-of', { own, keyAllows: ['unheard-of'] })).toBe('maker/unheard-of')
    for (const keyAllows of [['host/*'], ['maker/large'], ['large'], ['host/unheard-of'], []]) {
      expect(resolve('unheard-of', { own, keyAllows })).toBe('model_not_allowed')
      expect(resolve('unheard-of', { own, environmentAllows: keyAllows })).toBe('model_not_allowed')
      expect(resolve('maker/unheard-of', { keyAllows })).toBe('model_not_allowed')
      expect(resolve('maker/unheard-of', { environmentAllows: keyAllows })).toBe('model_not_allowed')
    }
    const aliases = { 'unheard-of.': ['maker/large'] }
    expect(resolve('unheard-of', { own, aliases, keyAllows: ['unheard-of.'] })).toBe('model_not_allowed')
  })

  test("refuses other models if it is the environment's", () => {
    expect(resolve('maker/large', { environmentAllows: ['host/*'] })).toBe('model_not_allowed')
    expect(resolve('host/large', { environmentAllows: ['host/*'] })).toBe('host/large')
  })

  test('refuses other models if it is of the plan, before their existence and credentials are checked', () => {
    const planAllows = ['host/*', 'small']
    expect(resolve('host/large', { planAllows })).toBe('host/large')
    expect(resolve('small', { planAllows })).toBe('maker/small')
    for (const asked of ['maker/large', 'maker/unheard-of', 'unheard-of', 'no/provider']) {
      expect(resolve(asked, { planAllows })).toBe('model_not_allowed')
      expect(resolve(asked, { planAllows, credentials: ['host'] })).toBe('model_not_allowed')
    }
  })
})

describe('a name that the catalogue lacks', () => {
  test('is known if the provider lists it, by its full and its bare name', () => {
    const discovered = { host: ['brand-new'] }
    expect(resolve('host/brand-new', { discovered })).toBe('host/brand-new')
    expect(resolve('brand-new', { discovered })).toBe('host/brand-new')
  })

  test('goes to the maker by its bare name, also if an older credential lists it', () => {
    const discovered = { host: ['brand-new'], maker: ['brand-new'] }
    expect(resolve('brand-new', { discovered, credentials: ['host', 'maker'] })).toBe('maker/brand-new')
  })

  test('never goes by its bare name to a provider that accepts any name, even if that lists it', () => {
    expect(resolve('brand-new', { discovered: { any: ['brand-new'] } })).toBe('model_not_found')
  })

  test('is known as a custom model of the environment', () => {
    const customModels = ['maker/tuned', 'other/lonely']
    expect(resolve('maker/tuned', { customModels })).toBe('maker/tuned')
    expect(resolve('tuned', { customModels })).toBe('maker/tuned')
    expect(resolve('other/lonely', { customModels, credentials: [] })).toBe('provider_credential_missing')
  })
})

describe('an alias', () => {
  const aliases = { fast: ['maker/small', 'other/large'], large: ['host/large'] }

  test('wins over a bare name and resolves to its targets in their order', () => {
    expect(resolve('fast', { aliases })).toEqual(['maker/small', 'other/large'])
    expect(resolve('large', { aliases })).toEqual(['host/large'])
    expect(resolve('maker/large', { aliases })).toBe('maker/large')
  })

  test('is not resolved as the target of an alias, which could be a circle', () => {
    expect(resolve('a', { aliases: { a: ['b'], b: ['a'] } })).toEqual(['model_not_found'])
    expect(resolve('small', { aliases: { small: ['small'] } })).toEqual(['maker/small'])
  })

  test('allows its targets to a key that lists it, by the name of the alias only', () => {
    const given = { aliases, keyAllows: ['fast', 'large'] }
    expect(resolve('fast', given)).toEqual(['maker/small', 'other/large'])
    for (const name of ['maker/small', 'small', 'other/large', 'maker/large', 'host/large']) {
      expect(resolve(name, given)).toBe('model_not_allowed')
    }
  })

  test('is not allowed to a key that lists its targets only', () => {
    expect(resolve('fast', { aliases, keyAllows: ['maker/*', 'other/large'] })).toBe('model_not_allowed')
  })

  test("has no targets outside the environment's list, and is not allowed without any", () => {
    expect(resolve('fast', { aliases, environmentAllows: ['other/*'] })).toEqual([
      'model_not_allowed',
      'other/large',
    ])
    expect(resolve('fast', { aliases, environmentAllows: ['fast'] })).toBe('model_not_allowed')
  })

  test("has no targets outside the plan's list, which has no right to the alias by its name", () => {
    expect(resolve('fast', { aliases, planAllows: ['other/*'] })).toEqual([
      'model_not_allowed',
      'other/large',
    ])
    expect(resolve('fast', { aliases, planAllows: ['fast'] })).toBe('model_not_allowed')
    const environmentAllows = ['maker/*']
    expect(resolve('fast', { aliases, environmentAllows, planAllows: ['other/*'] })).toBe('model_not_allowed')
  })

  test('returns a target without a credential with its refusal', () => {
    expect(resolve('fast', { aliases, credentials: ['other'] })).toEqual([
      'provider_credential_missing',
      'other/large',
    ])
  })
})
