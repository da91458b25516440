import { setFlagsFromString } from 'node:v8'

/**
 * Node 24 counts received bytes as garbage of its heap and collects all of it every 64 MB, so that large bodies cost twice the
 * time. These options of V8 let the heap grow as on Node 20. They are of this version only: another may lack them, or not need
 * them, so each new one is to be measured first.
 */
const OPTIONS_BY_MAJOR: ReadonlyMap<string, readonly string[]> = new Map([
  [
    '24',
    [
      '--scavenger-max-new-space-capacity-mb=8',
      '--external-memory-accounted-in-global-limit',
      '--heap-growing-percent=200',
    ],
  ],
])

/** Sets how the heap of this process grows. Call it at the start, while the heap is small. An option of the command line loses. */
export function setHeapOptions(version: string = process.versions.node, set = setFlagsFromString): void {
  for (const option of OPTIONS_BY_MAJOR.get(version.split('.')[0] ?? '') ?? []) set(option)
}
