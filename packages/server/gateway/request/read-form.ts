import { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import { type FormPart, type FormProblem, FormScan } from '../../http/body/form-scan.ts'
import { runInSlices } from '../../http/fairness/sliced-work.ts'

/** A longer body is parsed in slices. */
const SHORT_BYTES = 256 * 1024
/** Limit on all fields that are not files. No provider accepts a prompt half as long. */
const MAX_TEXT_BYTES = 256 * 1024
const FORM = /^multipart\/form-data\s*;/i

/** Throws `unsupported_media_type` unless the content type is that of a form. */
export function assertForm(contentType: string | undefined, accepted: string): asserts contentType is string {
  if (contentType !== undefined && FORM.test(contentType)) return
  throw new Fault('unsupported_media_type', `The Content-Type must be ${accepted}.`, {
    param: 'Content-Type',
  })
}

/** Parses `multipart/form-data`. Rejects with the error that `findStop` returns. */
export async function readForm(
  bytes: Buffer,
  contentType: string,
  findStop: () => Error | undefined,
  owner?: ShareOwner,
): Promise<readonly FormPart[]> {
  const scan = new FormScan(bytes, contentType)
  if (bytes.length > SHORT_BYTES) {
    await runInSlices(scan, () => findStop() !== undefined, owner)
    const stop = findStop()
    if (stop !== undefined) throw stop
  } else while (!scan.step());
  if (scan.problem !== undefined) throw new RequestError('request_validation_failed', PROBLEMS[scan.problem])
  return scan.parts
}

const PROBLEMS: Readonly<Record<FormProblem, string>> = {
  malformed: 'The body must be valid multipart/form-data.',
  no_boundary: 'The Content-Type of a form must name its boundary.',
  too_many_parts: 'The form has too many parts.',
  long_header: 'The header of each part of the form must have at most 4 KiB.',
  encoded: 'A part of the form has a transfer encoding. Send its bytes unencoded.',
}

const TOO_LONG = 'The fields of the form that are not files must have at most 256 KiB together.'

/** Bounds the fields of one form that are not files. */
export class FormTexts {
  #bytes = 0

  /** Returns the text of a field. Throws `request_too_large`, and for names that no field may have. */
  read(part: FormPart, param: string): string {
    if (part.name === '__proto__') {
      throw new RequestError(
        'request_validation_failed',
        '__proto__: is not accepted as the name of a field.',
        { param: '__proto__' },
      )
    }
    this.#bytes += part.bytes.length
    if (this.#bytes > MAX_TEXT_BYTES) throw new RequestError('request_too_large', TOO_LONG, { param })
    return part.bytes.toString('utf8')
  }
}

export function duplicateField(param: string): RequestError {
  return new RequestError('request_validation_failed', `${param}: must not be given twice.`, { param })
}
