import fc from 'fast-check'

/** Names of Object.prototype, separators, line ends, and what formats and PostgreSQL treat specially. */
const SPECIAL = [
  ...[
    '__proto__',
    'constructor',
    'toString',
    'a,b',
    'a\r\nb: c',
    '\0',
    '\ud800',
    '\udc00x',
    '',
    ' ',
    '*',
    '..',
  ],
  ...[
    '%',
    '%00',
    '%2e%2e%2f',
    "'; drop table keys; --",
    '$1',
    '{}',
    '[]',
    'null',
    '1e999',
    '-0',
    'NaN',
    '\u202e',
  ],
  ...['x'.repeat(300), 'ü'.repeat(600), 'x'.repeat(5_000), '\u{1f600}'.repeat(300)],
]

/** Any UTF-16 text, including half surrogate pairs, control characters and names of Object.prototype. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map(units => String.fromCharCode(...units)),
  fc.constantFrom(...SPECIAL),
)

/** The number of inputs of a property test; a full run takes 100,000. */
export const TEXT_RUNS = Number(process.env.RIDEAU_TEST_RUNS ?? 800)
/** A seed reproduces the same inputs. */
export const TEXT_SEED = Number(process.env.RIDEAU_TEST_SEED ?? Date.now() % 2_147_483_647)
/** The time limit of a property test in milliseconds. */
export const TEXT_TIMEOUT_MS = 120_000 + TEXT_RUNS * 50

/** Returns the text for a path or a query. Half a surrogate pair, which no URL can hold, becomes U+FFFD. */
export function toUrlText(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}
