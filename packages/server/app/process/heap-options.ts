import { setFlagsFromString } from 'node:v8'

/**
 * Objects begin in the young generation. V8 would let code whose objects survived the first collections allocate theirs in the
 * old one, where they keep whole requests until a full collection; after half of the starts it did.
 *
 * The old generation may grow to three times what lives in it before it is collected. While few requests come, V8 would
 * collect it at a third more: every 3 s, with threads that hold up requests where they share a core. Under load V8 lets it
 * grow to four times by itself.
 */
const OF_ALL = ['--no-allocation-site-pretenuring', '--heap-growing-percent=200']

/**
 * Node 24 counts received bytes as garbage of its heap and collects all of it every 64 MB, so that large bodies cost twice the
 * time. Its options let the heap grow as on Node 20. All options are of these versions only: another may lack them, or not
 * need them, so each new one is to be measured first.
 */
const OPTIONS_BY_MAJOR: ReadonlyMap<string, readonly string[]> = new Map([
  ['20', OF_ALL],
  ['22', OF_ALL],
  [
    '24',
    [...OF_ALL, '--scavenger-max-new-space-capacity-mb=8', '--external-memory-accounted-in-global-limit'],
  ],
])

/** Sets how the heap of this process grows. Call it at the start, while the heap is small. An option of the command line loses. */
export function setHeapOptions(version: string = process.versions.node, set = setFlagsFromString): void {
  for (const option of OPTIONS_BY_MAJOR.get(version.split('.')[0] ?? '') ?? []) set(option)
}
