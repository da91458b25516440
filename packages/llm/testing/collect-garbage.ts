import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects the garbage of this thread, twice: what a finalizer of the first collection lets go is freed by the second. */
export function collectGarbage(): void {
  collect()
  collect()
}
