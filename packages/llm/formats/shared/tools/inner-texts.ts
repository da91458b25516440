import { REQUEST_BOUNDS } from '../../../json/body-bounds.ts'
import { PartCounter } from '../../../json/part-counter.ts'
import { RequestError } from '../reading/request-error.ts'
import { CARRIER_MARK, inflateToolCallId, maxCarried } from '../reasoning/reasoning-carrier.ts'

/** What the ids of tool calls and reasoning items may unpack to together: reasoning of two million tokens. */
const MAX_CARRIED = 8 * 1024 * 1024
/** What an id costs at least, as so many characters: beginning to unpack takes some 20 us, and encoders do it twice. */
const LEAST_CARRIED = 2_048

/** The characters that the arguments of a request's calls may have together, as many as the longest conversations have in all. */
const MAX_ARGUMENTS = 4 * 1024 * 1024
/** The same for those results of tools that look like JSON. */
const MAX_RESULTS = 16 * 1024 * 1024

/** Returns why a request is refused whose calls and results have so many characters of JSON, which some formats parse at once; undefined: it is not. */
export function findLongTexts(
  { ofArguments, ofResults }: { readonly ofArguments: number; readonly ofResults: number },
  param: string,
): RequestError | undefined {
  const format = (count: number): string => count.toLocaleString('en-US')
  if (ofArguments > MAX_ARGUMENTS) {
    const message = `The arguments of tool calls must have at most ${format(MAX_ARGUMENTS)} characters together; got ${format(ofArguments)}.`
    return new RequestError('request_too_large', message, { param })
  }
  if (ofResults <= MAX_RESULTS) return undefined
  const message = `The results of tools that are JSON must have at most ${format(MAX_RESULTS)} characters together; got ${format(ofResults)}.`
  return new RequestError('request_too_large', message, { param })
}

/**
 * Counts what stands in the strings of one request and is parsed or unpacked on its own: the arguments and results of
 * tools, and the reasoning that ids carry. The bounds of the body do not apply there; they apply to all these texts together.
 */
export class InnerTexts {
  private readonly counter = new PartCounter()
  private carried = 0

  /** A piece of a text; `isLast`: another text follows. */
  add(text: string, start: number, end: number, isLast: boolean): void {
    this.counter.add(text, start, end)
    if (isLast) this.counter.end()
  }

  /** An id that may carry something. */
  addCarried(packed: string): void {
    const text = inflateToolCallId(packed)
    // One that fails costs as much as its longest text would, here and wherever it is unpacked again.
    const least = packed.includes(CARRIER_MARK) ? LEAST_CARRIED : 0
    this.carried += Math.max(text?.length ?? maxCarried(packed), least)
    if (text !== undefined) this.add(text, 0, text.length, true)
  }

  /** undefined: it is not too much. */
  findFault(param: string): RequestError | undefined {
    const { maxParts } = REQUEST_BOUNDS
    if (this.counter.count > maxParts) {
      const most = maxParts.toLocaleString('en-US')
      const message = `The calls and results of tools hold more than ${most} names, strings, objects and lists.`
      return new RequestError('request_too_large', message, { param })
    }
    if (this.carried <= MAX_CARRIED) return undefined
    const message = 'The ids of tool calls carry more than 8 MiB, where each counts as 2 KiB at least.'
    return new RequestError('request_too_large', message, { param })
  }
}
