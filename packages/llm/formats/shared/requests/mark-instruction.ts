/** An instruction in the middle of a conversation, as a text of the user for models that take none of their own there. */
export function markInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
