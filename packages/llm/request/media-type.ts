import { toObject, toText } from '../json/json-value.ts'
import type { ContentPart } from './message.ts'

/** Longer than the media type of any data URL. */
const MAX_HEAD = 200

/**
 * Returns the media type of a part's data in lower case, such as `application/pdf`, whatever kind of part it is: some providers
 * obey the type and not the kind. undefined: the part has no data URL.
 */
export function findMediaType(part: ContentPart): string | undefined {
  const file = toObject(part.file)
  const url = toText(toObject(part.image_url)?.url) ?? toText(part.image_url) ?? toText(file?.file_data)
  return url === undefined
    ? undefined
    : /^\s*data:\s*([^;,]*)/i.exec(url.slice(0, MAX_HEAD))?.[1]?.toLowerCase()
}
