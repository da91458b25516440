/** Whether a text is of white space alone. Reads on to the first other character, and copies nothing. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}
