import type { ClientFormatId } from '../request/format-id.ts'
import type { ClientFormat } from './shared/client-format.ts'
import type { Format, ServedFormat } from './shared/format.ts'
import type { Mount } from './shared/reading/mount.ts'

/** The formats of a process, by what is looked for. */
export class FormatRegistry {
  readonly #clients: ReadonlyMap<ClientFormatId, ClientFormat>
  readonly served: readonly ServedFormat[]
  /** By name. */
  readonly mounts: ReadonlyMap<string, Mount>

  constructor(formats: readonly Format[]) {
    this.#clients = new Map(
      formats.flatMap(({ client }) => (client === undefined ? [] : [[client.id, client]])),
    )
    this.served = formats.flatMap(({ served }) => (served === undefined ? [] : [served]))
    this.mounts = new Map(this.served.map(({ mount }) => [mount.name, mount]))
  }

  /** Throws where no format of that id is registered, which a provider's definition must not name. */
  client(id: ClientFormatId): ClientFormat {
    const format = this.#clients.get(id)
    if (format === undefined) throw new Error(`no client format is registered as ${id}`)
    return format
  }
}
