/** The audit log's filters, under their names in the API. */
export interface AuditSearch {
  readonly operation?: string
  readonly actor_id?: string
  readonly resource_id?: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Reads the filters of an address. Values that the API would refuse are left out. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { operation, actor_id: actor, resource_id: resource } = search
  const isOperation = typeof operation === 'string' && operation.trim() !== '' && operation.length <= 64
  return {
    ...(isOperation ? { operation: operation.trim() } : {}),
    ...(typeof actor === 'string' && UUID.test(actor) ? { actor_id: actor } : {}),
    ...(typeof resource === 'string' && UUID.test(resource) ? { resource_id: resource } : {}),
  }
}
