// Words that were replaced, each with the word to write instead: in code, comments, test titles and documents.

/**
 * `pattern` finds the word in all its forms. `allow` lists the places where the word has another meaning: a pattern of `file: line`, and the
 * reason.
 */
const BANNED = [
  {
    word: 'house',
    pattern: /\bhouses?\b/i,
    instead: 'app (the running program) or deployment (an installation)',
  },
  {
    word: 'exchange',
    pattern: /\bExchange\b|\bChatExchange\b|\bexchange\.(?!ts\b)[a-z]/,
    instead: 'RequestContext, ctx',
  },
  {
    word: 'dialect',
    pattern: /dialect/i,
    instead: 'format',
    allow: [
      { place: /^packages\/server\/storage\/(pool|tenant-scope)\.ts: /, reason: 'names of Kysely' },
      { place: /^docs\/decisions\/0002-/, reason: 'dialects of SQL' },
    ],
  },
  { word: 'manners', pattern: /\bmanners\b/i, instead: 'conventions of the format' },
  {
    word: 'mend',
    pattern: /\bmend(s|ed|ing)?\b|\bmend[A-Z]/,
    instead: 'patch (a library), fix, repair or restore',
  },
  {
    word: 'surface',
    pattern:
      /\bsurfaces\b|\bSurface|[a-z]Surface[A-Z]|\bSURFACE|\b(an?|each|every|any|this|that|one|another|whatever|whichever|compat) surface\b/,
    instead: "format (its server side); the record's field stays `surface`",
  },
  { word: 'nobody knows', pattern: /\bnobody knows\b/i, instead: 'unknown' },
  { word: 'inTurn', pattern: /\binTurn\b/, instead: 'batchInTick' },
  {
    word: 'turn of the event loop',
    pattern: /\bturns? of the (event )?loop\b/i,
    instead: 'tick of the event loop',
  },
  {
    word: 'former end',
    pattern: /\bformerEnds?\b|\bsettleFormer\b/i,
    instead: 'recovered settlement, settleRecovered',
  },
  {
    word: 'held back',
    pattern: /\b(held|holds?|holding) back\b/i,
    instead: 'buffer (bytes) or pause (a stream)',
  },
  { word: 'MAX_HELD', pattern: /\bMAX_HELD_/, instead: 'MAX_BUFFERED_' },
  {
    word: 'plan of targets',
    pattern:
      /\b(Call|Chat|Target)Plans?\b|\bPlannedTarget\b|\bplan(Targets?|Chat|Embeddings|Images|Audio|Rerank)\b|\bplanned targets?\b|\b(is|was|were|and) planned\b|\b[Tt]he plan remove[ds]\b|\bgateway\/plan\//,
    instead: 'selection (TargetSelection, selectTargets): a plan is what the API calls one',
  },
  {
    word: 'refuse, as the verb of a function',
    pattern: /\bfunction (refuse|throwIf)[A-Z]\w*|\bthrowIfStopped\b/,
    instead: 'assert (throws a fault) or check (returns a verdict)',
  },
  { word: 'calledAt', pattern: /\bcalledAt\b|\bcallTargets\b/, instead: 'firstAttemptAt, attemptTargets' },
  {
    word: 'as far as',
    pattern: /\bas far as\b/i,
    instead: 'the plain condition, such as "if", "what is known", "the part that arrived"',
  },
  {
    word: 'wire facts',
    pattern: /\bwire facts\b/i,
    instead: 'the fact itself, or a section of docs/providers.md',
  },
  {
    word: 'field notes',
    pattern: /\bfield[- ]notes\b/i,
    instead: 'the fact itself, since the repository does not hold the notes',
  },
  {
    word: 'contract.md',
    pattern: /\b(contract|spec)\.md\b/i,
    instead: 'the rule itself or a section of docs/, since the repository does not hold the document',
    allow: [
      {
        place: /^packages\/server\/http\/answer\/docs-errors\.test\.ts: .* new URL\('\.\.\/shared\//,
        reason: 'compares the fault table with the documents where they are at hand',
      },
    ],
  },
]

const CHECKED = /^(packages|e2e|tools)\/.*\.(ts|tsx|mjs|js|lua|sql)$|^docs\/.*\.md$|^[^/]+\.md$/
/** They hold the words to check for. */
const UNCHECKED = new Set(['tools/banned-words.mjs', 'tools/check-project.test.ts'])

/** True for the sources and documents that are checked; `file` as `git ls-files` names it. */
export function isChecked(file) {
  return CHECKED.test(file) && !UNCHECKED.has(file)
}

/** A message for each banned word of a file, by line. */
export function findBannedWords(file, text) {
  return text
    .split('\n')
    .flatMap((line, index) =>
      BANNED.filter(
        ({ pattern, allow = [] }) => pattern.test(line) && !isAllowed(allow, `${file}: ${line}`),
      ).map(({ pattern, instead }) => `${file}:${index + 1}: "${pattern.exec(line)[0]}": write ${instead}`),
    )
}

const isAllowed = (allow, line) => allow.some(({ place }) => place.test(line))
