import { type Json, toObject } from '../../../json/json-value.ts'
import { runAtOnce } from '../../../json/run-at-once.ts'
import { countedLength, MAX_CONTENT_NAME_CHARACTERS } from '../../../upstream/json-texts.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'
import { searchTexts } from './search-texts.ts'

/**
 * An address that a provider may fetch, such as `https://` or `gs://`, or what may be one behind many blanks. The bound on its scheme keeps
 * base64 from being read.
 */
const ADDRESS = /^(?:\s{1000}|\s*[a-z][a-z\d+.-]{0,63}:\/\/)/i
const FILE_IDS: ReadonlySet<string> = new Set(['fileid', 'fileids'])
/** Between the characters there may be some that are not seen, which a parser may leave out. */
const NAME = [...'fileid:', '\\/', '\\/'].join('\\p{Cf}*')
const STORED_FILES = new RegExp(NAME, 'iu')
const BEGINS = new RegExp(`^[\\s\\p{Cf}]*${NAME}`, 'iu')
/** What may be the beginning of such a text, however long it is. */
const MAY_BEGIN = /^[\s\p{Cf}filed:/]*$/iu
/** Characters that are searched at once, since an expression would need too much memory for millions that are not seen. */
const PIECE_CHARS = 65_536
/** The characters of such a beginning behind its first one, halves of pairs included. */
const OF_NAME = /[iled:/\p{Cf}\p{Cs}]/iu
/** The longest beginning of a name that is recognized across two pieces. */
const MAX_BEGUN = 1_000

/**
 * Whether texts of a message, which are read as one, stand for files that the provider keeps: Alibaba's long-context models read the files of
 * the account in place of `fileid://file-1,fileid://file-2`. Each step takes a fraction of a millisecond.
 * Source: alibabacloud.com/help/en/model-studio/long-context-qwen-long.
 */
export function* searchStoredFiles(texts: Iterable<string>): Generator<void, boolean> {
  let piece = ''
  for (const text of texts) {
    for (let start = 0; start < text.length; ) {
      const end = start + PIECE_CHARS - piece.length
      piece += text.slice(start, end)
      start = end
      if (piece.length < PIECE_CHARS) break
      if (STORED_FILES.test(piece)) return true
      piece = piece.slice(PIECE_CHARS - countBegun(piece))
      yield
    }
  }
  return STORED_FILES.test(piece)
}

/** Returns how many characters at the end of a piece may be the beginning of a name. */
function countBegun(piece: string): number {
  for (let length = 1; length <= MAX_BEGUN; length++) {
    const char = piece.charAt(piece.length - length)
    if (char === 'f' || char === 'F') return length
    if (!OF_NAME.test(char)) return 0
  }
  return 0
}

/** Whether a text begins with the address of such a file: a sentence that mentions one does not. */
export function isStoredFiles(text: unknown): boolean {
  if (typeof text !== 'string') return false
  const head = text.slice(0, PIECE_CHARS)
  return BEGINS.test(head) || (head.length === PIECE_CHARS && MAY_BEGIN.test(head))
}

const SPEAKERS: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool', 'function'])

/** Whether messages of this role stand for such files only if they begin with one. */
export function isSpeaker(role: unknown): boolean {
  return SPEAKERS.has(role)
}

/**
 * Whether a message stands for such files. They are read in a system message, wherever they stand in it; other messages count
 * if they begin with one.
 */
export function isMessageOfStoredFiles(message: Json): boolean {
  const { role, content } = toObject(message) ?? {}
  return runAtOnce(searchMessage(role, content))
}

/** Does what isMessageOfStoredFiles does, in short steps. */
export function* searchMessage(role: unknown, content: Json | undefined): Generator<void, boolean> {
  if (!isSpeaker(role)) return yield* searchStoredFiles(textsOf(content))
  let head = ''
  for (const text of textsOf(content)) {
    head += text.slice(0, PIECE_CHARS - head.length)
    if (head.length === PIECE_CHARS) break
  }
  return isStoredFiles(head)
}

/** The texts of a message, which may be read as one. Those of parts of other kinds may be read too. */
function* textsOf(content: Json | undefined): Generator<string> {
  if (typeof content === 'string') yield content
  if (!Array.isArray(content)) return
  for (const part of content) {
    const text = toObject(part)?.text
    if (typeof text === 'string') yield text
  }
}

/**
 * Whether a value that the gateway does not read names content which is not in it, at any depth: an address that the provider
 * may fetch, or a file that it keeps. How much input that is cannot be counted. So may names beyond those that `left` allows.
 */
export function namesContent(value: Json | undefined, left: TextsLeft): boolean {
  return runAtOnce(searchTexts(value, isAddress, name => isBeyond(name, left) || isFileId(name)))
}

/** Does what namesContent does, in short steps, however many names there are. */
export function searchContent(value: Json | undefined): Generator<void, boolean> {
  return searchTexts(value, isAddress, isFileId)
}

const isAddress = (text: string): boolean => ADDRESS.test(text)
const isFileId = (name: string): boolean => FILE_IDS.has(toPlainName(name))

/** The first characters of base64 in which the mark of a file is looked for. */
const HEAD_CHARS = 1_400
/** Shorter texts are kinds and names: a document has its mark at least. */
const MIN_CHARS = 8
/** What of a body that is not read may still be looked at. */
export interface TextsLeft {
  /** Texts, for a document. */
  texts: number
  /** Characters of names, for those of files. */
  nameChars: number
}

/** What one body may have of them: 50 searches of files with 50 results of four texts each. More than one takes a microsecond. */
export function allTextsLeft(): TextsLeft {
  return { texts: 10_000, nameChars: MAX_CONTENT_NAME_CHARACTERS }
}

function isBeyond(name: string, left: TextsLeft): boolean {
  left.nameChars -= countedLength(name)
  return left.nameChars < 0
}

/** Marks of PDF, of zip (Word, Excel) and of older documents of Office. */
const PACKED_MARKS = ['%PDF-', 'PK\x03\x04', '\xd0\xcf\x11\xe0']

/**
 * Whether a value that the gateway does not read has a document in base64 at any depth that may hold more text than its bytes show.
 * So may texts beyond the number that `left` allows.
 */
export function holdsPackedFile(value: Json | undefined, left: TextsLeft): boolean {
  return runAtOnce(searchPackedFile(value, left))
}

/** Does what holdsPackedFile does, in short steps. */
export function searchPackedFile(value: Json | undefined, left: TextsLeft): Generator<void, boolean> {
  return searchTexts(value, text => text.length >= MIN_CHARS && (left.texts-- <= 0 || isPackedFile(text)))
}

const DATA_HEAD = /^\s*data:[^,]*,/i
/** A beginning behind which anything may come. */
const OPEN_HEAD = /^\s*(?:data:[^,]*)?$/i
/** One for all texts: a buffer for each of them would take longer than decoding it. */
const decoded = Buffer.alloc(HEAD_CHARS)

function isPackedFile(text: string): boolean {
  const start = text.slice(0, HEAD_CHARS)
  if (start.length === HEAD_CHARS && OPEN_HEAD.test(start)) return true
  const length = decoded.write(start.replace(DATA_HEAD, ''), 'base64')
  const head = decoded.toString('latin1', 0, length)
  return PACKED_MARKS.some(mark => head.includes(mark))
}

/** What a provider's own tools did, as clients send it back with the conversation: the provider fetches nothing of it. */
const RAN_BY_PROVIDER = /_(?:tool_result|call)$/
/** What a tool of the caller returned: text may name addresses. */
const OUTPUT = /_call_output$/
const FILE_NAMES: ReadonlySet<string> = new Set([...FILE_IDS, 'fileurl', 'fileuri'])
/** Names of texts in such an output that no provider fetches: what a tool returned, and the page that a screenshot shows. */
const UNFETCHED: ReadonlySet<string> = new Set([
  'text',
  'output',
  'stdout',
  'stderr',
  'message',
  'currenturl',
])

/** Returns true if a block or item of a kind that the gateway does not read names content, or has a packed document. */
export function namesUnreadContent(part: Json, left: TextsLeft): boolean {
  if (holdsPackedFile(part, left)) return true
  const type = toObject(part)?.type
  if (typeof type !== 'string') return namesContent(part, left)
  if (RAN_BY_PROVIDER.test(type)) return false
  return OUTPUT.test(type) ? namesMedia('', part, left) : namesContent(part, left)
}

/** Images too: in an item that is not read they are not counted as images. */
function namesMedia(name: string, value: Json | undefined, left: TextsLeft): boolean {
  if (typeof value === 'string') return !UNFETCHED.has(name) && ADDRESS.test(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(entry => namesMedia(name, entry, left))
  for (const inner in value) {
    const given = value[inner]
    if (given === null || given === undefined) continue
    if (isBeyond(inner, left)) return true
    const plain = toPlainName(inner)
    if (FILE_NAMES.has(plain) || namesMedia(plain, given, left)) return true
  }
  return false
}
