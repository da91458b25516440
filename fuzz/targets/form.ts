import { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import { parseImageForm } from '../../packages/server/gateway/request/image-form.ts'
import { FormScan } from '../../packages/server/http/body/form-scan.ts'
import { UNKNOWN_OWNER } from '../../packages/server/http/fairness/loop-turns.ts'
import { Input } from '../input.ts'
import { assert, assertEqual, assertLinear, repeat } from '../oracle.ts'

const field = (head: string, body: string): string =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`

export const seeds = [
  `\x00${field('name="prompt"', 'a cat')}${field('name="image"; filename="a.png"\r\nContent-Type: image/png', '\x89PNG')}--b--\r\n`,
  `\x00preamble\r\n${field('name="n"', '2')}${field('name=model', 'x')}--b--epilogue`,
  `\x00${field('name="a%22b"; filename*=utf-8\'\'x', '')}--b \t\r\n\r\n\r\n--b--`,
  `\x00${field('name="a"\r\nContent-Transfer-Encoding: binary', '--b')}--b--`,
  `\x01\x1aform-data; boundary="b"; x\r\n--b--`,
  `\x0f${field('name="a"', '')}`,
].map(text => Buffer.from(text, 'latin1'))

interface Part {
  readonly name: string
  readonly isFile: boolean
  readonly bytes: string
}

function scan(bytes: Buffer, contentType: string): FormScan {
  const form = new FormScan(bytes, contentType)
  let steps = 0
  while (!form.step()) assert(++steps <= 101 + bytes.length / 8, 'a step finds a part or searches a slice')
  return form
}

/** The parts by a split of the whole body (RFC 2046, 5.1.1), without a look at the headers; undefined: it is not closed. */
function splitByReference(bytes: Buffer): string[] | undefined {
  const [, ...pieces] = `\r\n${bytes.toString('latin1')}`.split('\r\n--b')
  const end = pieces.findIndex(piece => piece.startsWith('--'))
  return end === -1 ? undefined : pieces.slice(0, end).map(piece => piece.replace(/^[ \t]*\r\n/, ''))
}

/** What Node's own parser of forms reads; undefined: it refuses the form. */
async function readByNode(bytes: Buffer, contentType: string): Promise<Part[] | undefined> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    return undefined
  }
  const parts: Part[] = []
  for (const [name, value] of form) {
    const isFile = typeof value !== 'string'
    const content = isFile ? Buffer.from(await value.arrayBuffer()) : Buffer.from(value)
    parts.push({ name, isFile, bytes: content.toString('latin1') })
  }
  return parts
}

/** Texts of both parsers are compared as UTF-8, since Node returns no bytes of them. */
function toComparable({ name, isFile, bytes }: FormScan['parts'][number]): Part {
  const content = isFile ? bytes : Buffer.from(new TextDecoder().decode(bytes))
  return { name, isFile, bytes: content.toString('latin1') }
}

async function checkImageForm(
  bytes: Buffer,
  contentType: string,
  parts: FormScan['parts'] | undefined,
): Promise<void> {
  try {
    const { value, sources } = await parseImageForm(bytes, contentType, () => undefined, UNKNOWN_OWNER)
    assert(parts !== undefined, 'a form that cannot be scanned is refused')
    const count = Object.keys(value).length + sources.images.length + (sources.mask === undefined ? 0 : 1)
    assertEqual(count, parts.length, 'every part is a field or a file')
    assert(!Object.hasOwn(value, '__proto__'), 'no field is called __proto__')
    for (const { name, isFile, bytes: content } of parts)
      if (!isFile)
        assertEqual(String(value[name]), content.toString('utf8'), 'a field has the text of its part')
  } catch (error) {
    if (error instanceof RequestError) return
    throw error
  }
}

export async function fuzz(data: Buffer): Promise<void> {
  const input = new Input(data)
  const mode = input.byte()
  const contentType =
    mode % 4 === 1
      ? `multipart/${input.take(input.byte() % 40).toString('latin1')}`
      : 'multipart/form-data; boundary=b'
  if (mode % 16 === 15) {
    const bytes = repeat(input.rest(), 2000)
    assertLinear(bytes, 60, 8000, () => scan(bytes, contentType))
    return
  }
  const bytes = input.rest()
  const form = scan(bytes, contentType)
  const isOk = form.problem === undefined
  await checkImageForm(bytes, contentType, isOk ? form.parts : undefined)
  if (!isOk) return
  const parts = form.parts.map(toComparable)
  if (mode % 4 !== 1) {
    const pieces = splitByReference(bytes)
    assertEqual(pieces?.length, parts.length, 'as many parts as the delimiters make')
    for (const [index, piece] of (pieces ?? []).entries()) {
      const content = form.parts[index]?.bytes.toString('latin1') ?? ''
      assertEqual(piece.slice(piece.indexOf('\r\n\r\n') + 4), content, 'a part ends at the next delimiter')
    }
  }
  if (!contentType.startsWith('multipart/form-data;')) return
  const nodes = await readByNode(bytes, contentType)
  if (nodes !== undefined) assertEqual(parts, nodes, "the parts that Node's parser reads")
}
