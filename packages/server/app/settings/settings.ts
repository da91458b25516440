import { z } from 'zod'
import type { Prefixes } from '../../gateway/request/prefixes.ts'
import { parseTrustedProxies, type TrustedProxies } from '../../http/head/client-address.ts'
import type { TracingConfig } from '../../tracing/tracing-config.ts'
import { ConfigError } from './config-error.ts'
import { FRONT_DOOR_SETTINGS, type FrontDoorConfig, toFrontDoorConfig } from './front-door-settings.ts'
import { isServiceLink, listUnknownSettings } from './setting-names.ts'
import { choice, wholeNumber } from './setting-types.ts'
import { removeUnusedTracing, TRACING_SETTINGS, toTracingConfig } from './tracing-settings.ts'
import { readResources, toWorkerCount } from './worker-count.ts'

/**
 * Every setting of the environment, parsed once. docs/operations.md lists them. Only app/ and main.ts read them. An invalid
 * value stops the start with a message that names the setting.
 */

const port = wholeNumber(0, 65_535, 'must be a whole number from 0 to 65535')
const flag = choice('true', 'false', '1', '0').transform(value => value === 'true' || value === '1')
const webUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
const origin = webUrl.transform(value => value.replace(/\/+$/, ''))
const prefix = z
  .string()
  .regex(/^\/[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/, 'must be a path like /openai, without a trailing slash')

const masterKey = z
  .string()
  .transform(value => Buffer.from(value, 'base64'))
  .refine(bytes => bytes.length === 32, 'must be 32 bytes in base64')

const masterKeys = z
  .string()
  .transform(value => value.split(',').map(entry => Buffer.from(entry.trim(), 'base64')))
  .refine(
    keys => keys.every(key => key.length === 32),
    'must be keys of 32 bytes in base64, with commas between them',
  )

/** Each worker has two connections to the database at least. The embedded one serves fewer. */
const MAX_WORKERS = 64
const MAX_EMBEDDED_WORKERS = 20
const workers = z.preprocess(
  text => (text === 'auto' ? String(Math.min(MAX_EMBEDDED_WORKERS, toWorkerCount(readResources()))) : text),
  wholeNumber(1, MAX_WORKERS, `must be auto or a whole number from 1 to ${MAX_WORKERS}`),
)

const proxies = z.string().transform((value, context): TrustedProxies => {
  const entries = value.split(',').map(entry => entry.trim())
  const parsed = parseTrustedProxies(entries)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'must be addresses or CIDRs with commas between them' })
  return z.NEVER
})

const Settings = z.object({
  NODE_ENV: z.string().default('development'),
  LOG_LEVEL: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  RIDEAU_LOG_FORMAT: choice('json', 'pretty').optional(),
  NO_COLOR: z.string().optional(),
  FORCE_COLOR: z.string().optional(),
  TERM: z.string().optional(),
  DATABASE_URL: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: 'must be a URL that begins with postgres:// or postgresql://',
    })
    .optional(),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a URL that begins with redis:// or rediss://' })
    .optional(),
  RIDEAU_LIMITS_FAILOPEN: flag.default(false),
  RIDEAU_JOURNAL_MAX_BYTES: wholeNumber(
    1,
    Number.MAX_SAFE_INTEGER,
    'must be a whole number of bytes, at least 1',
  ).default(1024 ** 3),
  RIDEAU_JOURNAL_FULL: choice('refuse', 'accept').default('refuse'),
  RIDEAU_DATA_DIR: z.string().min(1).default('./data'),
  RIDEAU_MASTER_KEY: masterKey.optional(),
  RIDEAU_FORMER_MASTER_KEYS: masterKeys.default([]),
  RIDEAU_DASHBOARD_DIR: z.string().min(1).optional(),
  // Guesses at it are few: by each address as many a minute as at a password.
  RIDEAU_SETUP_TOKEN: z.string().min(8, 'must have at least 8 characters').optional(),
  RIDEAU_WORKERS: workers.prefault('auto'),
  RIDEAU_HOST: z.string().min(1).default('127.0.0.1'),
  RIDEAU_GATEWAY_PORT: port.default(8787),
  RIDEAU_CONTROL_PORT: port.default(8788),
  RIDEAU_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  RIDEAU_METRICS_PORT: port.optional(),
  RIDEAU_GATEWAY_URL: origin.optional(),
  RIDEAU_BASE_URL: origin.optional(),
  RIDEAU_COMPAT_PREFIX: prefix.default('/openai'),
  RIDEAU_ANTHROPIC_PREFIX: prefix.default('/anthropic'),
  RIDEAU_GEMINI_PREFIX: prefix.default('/gemini'),
  RIDEAU_OLLAMA_PREFIX: prefix.default('/ollama'),
  RIDEAU_COHERE_PREFIX: prefix.default('/cohere'),
  RIDEAU_BEDROCK_PREFIX: prefix.default('/bedrock'),
  RIDEAU_SEND_TIMEOUT_SECONDS: wholeNumber(
    1,
    3_600,
    'must be a whole number of seconds from 1 to 3600',
  ).default(60),
  RIDEAU_MAX_UPSTREAM_CONNECTIONS: wholeNumber(
    16,
    65_536,
    'must be a whole number from 16 to 65536',
  ).optional(),
  RIDEAU_CONFIG_MAX_STALE_SECONDS: wholeNumber(
    0,
    Number.MAX_SAFE_INTEGER,
    'must be a whole number of seconds, at least 0',
  ).default(300),
  RIDEAU_IDEMPOTENCY_BYTES: wholeNumber(
    1_048_576,
    Number.MAX_SAFE_INTEGER,
    'must be a whole number of bytes, at least 1048576',
  ).default(4_294_967_296),
  RIDEAU_ALLOW_PRIVATE_UPSTREAMS: flag.optional(),
  RIDEAU_TRUSTED_PROXIES: proxies.optional(),
  RIDEAU_DEVICE_EXTRA_ROOTS: z.string().min(1).optional(),
  RIDEAU_ANDROID_REVOCATION_LIST: z.string().min(1).optional(),
  ...FRONT_DOOR_SETTINGS,
  ...TRACING_SETTINGS,
  RIDEAU_OIDC_ISSUER: webUrl.optional(),
  RIDEAU_OIDC_CLIENT_ID: z.string().optional(),
  RIDEAU_OIDC_CLIENT_SECRET: z.string().optional(),
})

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(Settings.shape)

export interface Config {
  readonly production: boolean
  readonly logLevel: z.output<typeof Settings>['LOG_LEVEL']
  /** undefined: for people on a terminal, JSON elsewhere. */
  readonly logFormat: 'json' | 'pretty' | undefined
  /** Whether a log for people has colours; undefined: on a terminal. */
  readonly color: boolean | undefined
  /** undefined: the embedded PostgreSQL in dataDir. */
  readonly databaseUrl: string | undefined
  /** The server over which several gateways share limits; undefined: a single process counts them in memory. */
  readonly redisUrl: string | undefined
  /** True: while shared counting is lost, admit requests with a limit on money, counted by each process by itself. */
  readonly limitsFailOpen: boolean
  /** The size of the journal while the database is unavailable, in bytes. */
  readonly journalMaxBytes: number
  /** Whether requests are refused or accepted above that size. */
  readonly journalFull: 'refuse' | 'accept'
  readonly dataDir: string
  /** undefined: created in dataDir at the first start. */
  readonly masterKey: Buffer | undefined
  /** Keys that open what they sealed, and seal nothing. */
  readonly formerMasterKeys: readonly Buffer[]
  readonly setupToken: string | undefined
  /** Gateway worker processes; 1: none, the gateway runs in the program's own process. */
  readonly workers: number
  readonly host: string
  readonly gatewayPort: number
  readonly controlPort: number
  readonly metricsHost: string
  /** undefined: 8789, and no metrics if that port is taken. */
  readonly metricsPort: number | undefined
  /** The URL at which callers reach the gateway; undefined: derived from its listener. */
  readonly gatewayUrl: string | undefined
  readonly baseUrl: string | undefined
  readonly prefixes: Prefixes
  /** The folder with the built dashboard; undefined: the control plane serves none. */
  readonly dashboardDir: string | undefined
  /** A caller that takes no byte of its answer for this long is disconnected. */
  readonly sendTimeoutMs: number
  /** Connections to providers at most; undefined: by the limit on open files. */
  readonly maxUpstreamConnections: number | undefined
  readonly configMaxStaleMs: number
  /** What the kept answers of one environment may take in the database. */
  readonly idempotencyBytes: number
  readonly allowPrivateUpstreams: boolean
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: TrustedProxies
  /** A PEM file of further roots of device attestations, for tests; undefined: the platforms' own only. */
  readonly deviceExtraRoots: string | undefined
  /** The URL or file of the list of revoked Android certificates, or `off`; undefined: Google's. */
  readonly androidRevocationList: string | undefined
  readonly frontDoor: FrontDoorConfig
  /** undefined: traces are off. */
  readonly tracing: TracingConfig | undefined
  /** undefined: people sign in by password only. */
  readonly oidc: OidcConfig | undefined
}

interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly allowInsecure: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Throws a ConfigError for an invalid or a missing setting. Its further lines name the variables that look like settings and are
 * none, since the missing one may be among them, and the start that would warn of them does not come that far.
 */
export function parseConfig(env: Env): Config {
  try {
    return toConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError([error.message, ...listUnknownSettings(env, SETTING_NAMES)].join('\n'))
  }
}

function toConfig(env: Env): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value = '']) => isGiven(name, value) && !isServiceLink(name, value)),
  )
  removeUnusedTracing(given)
  const parsed = Settings.safeParse(given)
  if (!parsed.success) {
    const lines = parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`)
    throw new ConfigError(lines.join('\n'))
  }
  const settings = parsed.data
  if (settings.DATABASE_URL !== undefined && settings.RIDEAU_MASTER_KEY === undefined) {
    throw new ConfigError(
      'RIDEAU_MASTER_KEY: must be set if DATABASE_URL is set (32 bytes in base64: openssl rand -base64 32)',
    )
  }
  if (settings.DATABASE_URL === undefined && settings.RIDEAU_WORKERS > MAX_EMBEDDED_WORKERS) {
    throw new ConfigError(`RIDEAU_WORKERS: must be at most ${MAX_EMBEDDED_WORKERS} without DATABASE_URL`)
  }
  if (settings.RIDEAU_FORMER_MASTER_KEYS.length > 0 && settings.RIDEAU_MASTER_KEY === undefined) {
    throw new ConfigError('RIDEAU_FORMER_MASTER_KEYS: needs RIDEAU_MASTER_KEY, the key that replaces them')
  }
  const production = settings.NODE_ENV === 'production'
  if (production && settings.RIDEAU_DEVICE_EXTRA_ROOTS !== undefined) {
    throw new ConfigError(
      'RIDEAU_DEVICE_EXTRA_ROOTS: must not be set if NODE_ENV is production, since whoever has a key of these roots can make devices up',
    )
  }
  const allowPrivateUpstreams =
    settings.RIDEAU_ALLOW_PRIVATE_UPSTREAMS ??
    (!production && [settings.RIDEAU_HOST, settings.RIDEAU_METRICS_HOST].every(isLoopback))
  return {
    production,
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.RIDEAU_LOG_FORMAT,
    color: toColor(settings),
    databaseUrl: settings.DATABASE_URL,
    redisUrl: settings.REDIS_URL,
    limitsFailOpen: settings.RIDEAU_LIMITS_FAILOPEN,
    journalMaxBytes: settings.RIDEAU_JOURNAL_MAX_BYTES,
    journalFull: settings.RIDEAU_JOURNAL_FULL,
    dataDir: settings.RIDEAU_DATA_DIR,
    masterKey: settings.RIDEAU_MASTER_KEY,
    formerMasterKeys: settings.RIDEAU_FORMER_MASTER_KEYS,
    dashboardDir: settings.RIDEAU_DASHBOARD_DIR === 'off' ? undefined : settings.RIDEAU_DASHBOARD_DIR,
    setupToken: settings.RIDEAU_SETUP_TOKEN,
    workers: settings.RIDEAU_WORKERS,
    host: settings.RIDEAU_HOST,
    gatewayPort: settings.RIDEAU_GATEWAY_PORT,
    controlPort: settings.RIDEAU_CONTROL_PORT,
    metricsHost: settings.RIDEAU_METRICS_HOST,
    metricsPort: settings.RIDEAU_METRICS_PORT,
    gatewayUrl: settings.RIDEAU_GATEWAY_URL,
    baseUrl: settings.RIDEAU_BASE_URL,
    prefixes: toPrefixes(settings),
    sendTimeoutMs: settings.RIDEAU_SEND_TIMEOUT_SECONDS * 1000,
    maxUpstreamConnections: settings.RIDEAU_MAX_UPSTREAM_CONNECTIONS,
    configMaxStaleMs: settings.RIDEAU_CONFIG_MAX_STALE_SECONDS * 1000,
    idempotencyBytes: settings.RIDEAU_IDEMPOTENCY_BYTES,
    allowPrivateUpstreams,
    trustedProxies: settings.RIDEAU_TRUSTED_PROXIES ?? { has: () => false },
    deviceExtraRoots: settings.RIDEAU_DEVICE_EXTRA_ROOTS,
    androidRevocationList: settings.RIDEAU_ANDROID_REVOCATION_LIST,
    frontDoor: toFrontDoorConfig(settings),
    tracing: toTracingConfig(settings),
    oidc: toOidcConfig(settings, allowPrivateUpstreams),
  }
}

/** The conventions of other programs: FORCE_COLOR, then NO_COLOR, then what the terminal can. */
function toColor({ FORCE_COLOR, NO_COLOR, TERM }: z.output<typeof Settings>): boolean | undefined {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return NO_COLOR !== undefined || TERM === 'dumb' ? false : undefined
}

/** An empty setting counts as absent, as in `FOO= npm start` and compose files. An empty prefix would mean the root, which native routes have. */
function isGiven(name: string, value: string): boolean {
  return value !== '' || PREFIX_NAMES.has(name)
}

const PREFIX_SETTINGS = [
  'RIDEAU_COMPAT_PREFIX',
  'RIDEAU_ANTHROPIC_PREFIX',
  'RIDEAU_GEMINI_PREFIX',
  'RIDEAU_OLLAMA_PREFIX',
  'RIDEAU_COHERE_PREFIX',
  'RIDEAU_BEDROCK_PREFIX',
] as const
const PREFIX_NAMES: ReadonlySet<string> = new Set(PREFIX_SETTINGS)

/** The first path segments of the native routes. */
const NATIVE_ROOTS: ReadonlySet<string | undefined> = new Set(['v1', 'healthz', 'readyz', '.well-known'])

function toPrefixes(settings: z.output<typeof Settings>): Prefixes {
  const taken = new Map<string, string>()
  for (const setting of PREFIX_SETTINGS) {
    const value = settings[setting]
    const other = taken.get(value)
    if (other !== undefined) throw new ConfigError(`${setting}: must differ from ${other}`)
    taken.set(value, setting)
    const [, root] = value.split('/')
    if (NATIVE_ROOTS.has(root)) {
      throw new ConfigError(`${setting}: must not begin with /${root}, where native routes are`)
    }
  }
  return {
    openai: settings.RIDEAU_COMPAT_PREFIX,
    anthropic: settings.RIDEAU_ANTHROPIC_PREFIX,
    gemini: settings.RIDEAU_GEMINI_PREFIX,
    ollama: settings.RIDEAU_OLLAMA_PREFIX,
    'ollama-openai': `${settings.RIDEAU_OLLAMA_PREFIX}/v1`,
    'ollama-anthropic': `${settings.RIDEAU_OLLAMA_PREFIX}/v1/messages`,
    cohere: settings.RIDEAU_COHERE_PREFIX,
    bedrock: settings.RIDEAU_BEDROCK_PREFIX,
  }
}

function toOidcConfig(settings: z.output<typeof Settings>, allowInsecure: boolean): OidcConfig | undefined {
  const names = ['RIDEAU_OIDC_ISSUER', 'RIDEAU_OIDC_CLIENT_ID', 'RIDEAU_OIDC_CLIENT_SECRET'] as const
  const [issuer, clientId, clientSecret] = names.map(name => settings[name])
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    const missing = names.filter(name => settings[name] === undefined)
    throw new ConfigError(`${missing.join(', ')}: must be set too, since sign-in by OIDC needs all three`)
  }
  if (!issuer.startsWith('https:') && !allowInsecure) {
    throw new ConfigError('RIDEAU_OIDC_ISSUER: must be https')
  }
  return { issuer, clientId, clientSecret, allowInsecure }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
