export function parseLogSearch(search: Record<string, unknown>): Record<string, string> {
  return search as Record<string, string>
}
