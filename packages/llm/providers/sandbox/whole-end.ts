/** The place to cut a text at, one further than `end` if a surrogate pair would be cut. */
export function wholeEnd(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end
}
