import fc from 'fast-check'
import { anyText } from './any-text.ts'

/** A part of a form in `multipart/form-data`. All texts are bytes in Latin-1. */
export interface AnyPart {
  readonly name: string
  readonly value: string
  /** The part is a file. */
  readonly file?: { readonly name: string; readonly mediaType: string }
  /** One header besides the two that every part may have. */
  readonly header?: readonly [name: string, value: string]
}

export interface WrittenForm {
  readonly contentType: string
  /** In Latin-1. */
  readonly body: string
}

/** Bytes of a form: those of any text in UTF-8, or any bytes. */
const anyBytes = fc.oneof(
  { weight: 3, arbitrary: anyText.map(text => Buffer.from(text, 'utf8').toString('latin1')) },
  fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('latin1')),
)
/** Names that a parser may read as one of a model. */
const MODEL_NAMES = [
  'model',
  'Model',
  'model[]',
  'model[0]',
  ' model',
  'model\\',
  'model%22',
  'ｍodel',
  'model"; a="b',
]
const anyName = fc.oneof(
  { weight: 4, arbitrary: anyBytes },
  fc.constantFrom(...MODEL_NAMES).map(name => Buffer.from(name, 'utf8').toString('latin1')),
)
const PART_HEADERS = [
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-length',
  'x-other',
]
const BOUNDARY = 'b'
/** A request whose header has a control character is no HTTP. */
const anyBoundary = anyBytes.map(bytes => bytes.replace(/[^\x20-\x7e\x80-\xff]/g, '?'))

/** The form with any text in one place: a part's name, its value, its file name, its media type or a header, a further part, or the boundary. */
export function anyForm(parts: readonly AnyPart[]): fc.Arbitrary<WrittenForm> {
  const others = fc.oneof(
    fc.tuple(anyName, anyBytes).map(([name, value]) => [...parts, { name, value }]),
    fc.tuple(anyName, anyBytes).map(([name, value]) => [{ name, value }, ...parts]),
  )
  const changed = fc.oneof(
    { weight: parts.length, arbitrary: fc.oneof(...parts.map(part => inPart(parts, part))) },
    others,
  )
  return fc.oneof(
    { weight: 20, arbitrary: changed.map(each => writeForm(each, BOUNDARY)) },
    anyBoundary.map(boundary => writeForm(parts, boundary)),
  )
}

function inPart(parts: readonly AnyPart[], part: AnyPart): fc.Arbitrary<readonly AnyPart[]> {
  const { file, value } = part
  const header = fc.oneof(fc.constantFrom(...PART_HEADERS), anyBytes)
  const changes: fc.Arbitrary<AnyPart>[] = [
    anyName.map(name => ({ ...part, name })),
    anyBytes.map(text => ({ ...part, value: text })),
    anyBytes.map(text => ({ ...part, value: value + text })),
    fc.tuple(header, anyBytes).map(each => ({ ...part, header: each })),
  ]
  if (file !== undefined) {
    changes.push(
      anyBytes.map(name => ({ ...part, file: { ...file, name } })),
      anyBytes.map(mediaType => ({ ...part, file: { ...file, mediaType } })),
    )
  }
  return fc.oneof(...changes).map(each => parts.map(other => (other === part ? each : other)))
}

/** Writes each text as it is, without escapes: it may end the part, or the form. */
function writeForm(parts: readonly AnyPart[], boundary: string): WrittenForm {
  const written = parts.map(({ name, value, file, header }) => {
    const lines = [
      `Content-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file.name}"`}`,
    ]
    if (file !== undefined) lines.push(`Content-Type: ${file.mediaType}`)
    if (header !== undefined) lines.push(header.join(': '))
    return `--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n${value}\r\n`
  })
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: `${written.join('')}--${boundary}--\r\n`,
  }
}
